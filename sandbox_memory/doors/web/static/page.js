// The page works without this file: it adds search as you type, keys, and that the page follows the files.
const root = document.documentElement;
root.classList.add("scripted");

const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const say = (words) => { $("#live").textContent = words; };

async function fetched(address, signal) {
  const answer = await fetch(address, { signal, headers: { accept: "text/html" } });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// ---- search as you type

const search = $("#search");
let asking = null;
let timer = 0;

function wanted() {
  const given = [...new FormData(search)].filter(([, value]) => value.trim());
  const query = new URLSearchParams(given).toString();
  return search.action + (query ? `?${query}` : "");
}

async function find() {
  const results = $("#results");
  if (!results) return;
  asking?.abort();
  asking = new AbortController();
  const address = wanted();
  try {
    const found = await fetched(`${address}${address.includes("?") ? "&" : "?"}part=results`, asking.signal);
    if (!$("#results", found)) return;
    results.replaceWith($("#results", found));
    history.replaceState(null, "", address);
    say($("#found")?.textContent ?? $("h1").textContent);
  } catch (error) {
    if (error.name !== "AbortError") search.submit();
  }
}

if (search) {
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, 60);
  });
  search.addEventListener("submit", (event) => {
    if (!$("#results")) return;
    event.preventDefault();
    clearTimeout(timer);
    find();
  });
  document.addEventListener("change", (event) => {
    if (event.target.form === search && event.target.tagName === "SELECT") find();
  });
}

// ---- keys: letters count only while a line has the focus

const lines = () => all(".line");

function go(line) {
  line?.focus();
  line?.scrollIntoView({ block: "nearest" });
}

function edit(line) {
  const form = $(".edit", line);
  if (!form) return;
  form.open = true;
  $("textarea", form).focus();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    $("#q")?.focus();
    $("#q")?.select();
    return;
  }
  const at = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && at.form && at.tagName === "TEXTAREA") {
    event.preventDefault();
    at.form.requestSubmit($("button.main", at.form) ?? $("button[name=do]", at.form));
    return;
  }
  if (event.key === "Escape") {
    const open = at.closest?.("details[open]");
    if (open) {
      open.open = false;
      all("form", open).forEach((form) => form.reset());
      (at.closest(".line") ?? $("summary", open)).focus();
      return;
    }
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (at.id === "q" && event.key === "ArrowDown" && lines().length) {
    event.preventDefault();
    go(lines()[0]);
    return;
  }
  if (!at.classList?.contains("line")) return;
  const every = lines();
  const number = every.indexOf(at);
  const done = {
    ArrowDown: () => go(every[number + 1]),
    ArrowUp: () => (number ? go(every[number - 1]) : $("#q")?.focus()),
    j: () => go(every[number + 1]),
    k: () => go(every[number - 1]),
    e: () => edit(at),
    f: () => $(".forget", at)?.click(),
    Enter: () => $(".why", at)?.click(),
  }[event.key];
  if (done) {
    event.preventDefault();
    done();
  }
});

document.addEventListener("toggle", (event) => {
  if (event.target.matches?.(".edit, .add") && event.target.open) $("textarea", event.target)?.focus();
}, true);

// The lines are reached by Tab as well, so that the keys above have where to begin.
function reachable() {
  lines().forEach((line) => { line.tabIndex = 0; });
}

document.addEventListener("click", (event) => {
  const menu = $(".menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
});

// ---- the page follows the files

const dirty = () => all("textarea, main input[type=text]").some((field) => field.value !== field.defaultValue);
const stale = $("#stale");

async function follow() {
  const found = await fetched(location.href);
  const next = $("#content", found);
  if (!next) return location.reload();
  const focus = document.activeElement?.id;
  const open = all("details[open][id]").map((each) => each.id);
  all("#notes > :not([data-stay])", next).forEach((note) => note.remove());
  $("#content").replaceChildren(...next.childNodes);
  const tabs = $("#tabs", found);
  if (tabs) $("#tabs").replaceChildren(...tabs.childNodes);
  open.forEach((id) => { const each = document.getElementById(id); if (each) each.open = true; });
  reachable();
  if (focus && document.activeElement?.id !== focus) document.getElementById(focus)?.focus({ preventScroll: true });
  stale.hidden = true;
  say($("#stale span").textContent);
  return null;
}

function changed() {
  if (dirty() || $(".edit[open], [data-hold]")) stale.hidden = false;
  else follow();
}

if (document.body.dataset.events) {
  reachable();
  new MutationObserver(reachable).observe($("#content"), { childList: true, subtree: true });
  $("button", stale).addEventListener("click", follow);
  if (!document.querySelector('[data-page="answer"]')) {
    const source = new EventSource(document.body.dataset.events);
    source.addEventListener("changed", changed);
    addEventListener("pagehide", () => source.close());
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }
}
