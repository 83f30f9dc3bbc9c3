# Changes files under the lock. Arguments: 1 path of the lock; 2 hundredths of a second to wait for it; 3 number of
# plan lines; 4 length of the plan in bytes; 5 digest of the bundle; 6 file, or the bundle itself as text.
#
# The bundle is the plan, then the data of all steps. A plan line: what to do, is it required (1 or 0), is it private,
# offset and length of its data, digest of its data (R), two fields of the guard (or -), and the path between bars.
#   A append    guard: size, digest of the last 4096 bytes
#   R replace   guard: digest or absent
#   D delete    guard: digest or absent
#   F           a folder in which to look for what killed processes left
# Output: lines "<id> <word> <line number, 0 for the lock> <text>", the last with the word end.

lock=./$1 patience=$2 lines=$3 base=$4 sum=$5
home=${lock%/*}
bundle=$home/.sandbox-memory-$id.part.tmp
mine="" aside="" temporary=""

say() { # word, line, text
  text=${3-}
  case $text in *[!\ -~]*) text=$(printf "%s" "$text" | tr "\n" " ") ;; esac
  printf "%s %s %s %s\n" "$id" "$1" "$2" "$text"
}

leave() {
  rm -f "$bundle"
  if [ -n "$temporary" ]; then rm -f "$temporary"; fi
  if [ -n "$mine" ]; then { true > "$lock.d/$mine/done"; } 2>/dev/null || touch -t 200001010000 "$lock.d/$mine"; fi
}

# What is made new is its owner alone; the group of the user whom the agent runs as may read it, if it is not private.
umask 077
group=""
if [ -n "$reader" ] && [ "$(id -u "$reader" 2>/dev/null)" != "$(id -u)" ]; then
  group=$(id -g "$reader" 2>/dev/null) || group=""
fi

share() { # path, mode
  if [ -n "$group" ] && [ -z "$private" ]; then { chgrp "$group" "$1" && chmod "$2" "$1"; } 2>/dev/null || true; fi
}

make_folder() {
  if [ -d "$1" ]; then return 0; fi
  case $1 in */*) make_folder "${1%/*}" || return 1 ;; esac
  mkdir "$1" || [ -d "$1" ] || return 1
  share "$1" 750
}

give_up() { # word, line, text
  say "$@"
  say end 0
  exit 0
}

broken() { give_up broken 0 "$1"; }

size_of() { echo $(($(wc -c < "$1"))); }

if command -v sha256sum >/dev/null 2>&1; then
  hash() { sha256sum; }
elif command -v shasum >/dev/null 2>&1; then
  hash() { shasum -a 256; }
else
  hash() { openssl dgst -sha256; }
fi

hex() { # of what hash wrote: "<hex>  -" or "SHA2-256(stdin)= <hex>"
  hex=${1%% *}
  case $hex in *[!0-9a-f]* | "") hex=${1##* } ;; esac
  [ ${#hex} -eq 64 ]
}

# The digest of the file $1 in found: its hex, absent, or unknown for what is no regular file.
find_digest() {
  found=unknown
  if [ -h "$1" ]; then
    return 0
  elif [ -f "$1" ]; then
    hex "$(hash 2>/dev/null < "$1")" || return 1
    found=$hex
  elif [ ! -e "$1" ]; then
    found=absent
  fi
}

# ---- The lock

highest() { # the newest generation of a folder lock
  top=0
  for entry in "$lock.d"/*; do
    entry=${entry##*/}
    case $entry in 0* | *[!0-9]* | ????????????*) continue ;; esac
    if [ "$entry" -gt "$top" ]; then top=$entry; fi
  done
}

# Without flock: a folder for each generation of the lock. Making the next one takes the lock, which only one process
# can do, and which the holder of an old one notices. A generation is free when it is done, or 30 s old.
take_folder() {
  highest
  if [ "$top" -gt 0 ] && [ ! -e "$lock.d/$top/done" ]; then
    born=$(date -r "$lock.d/$top" +%s 2>/dev/null) || return 1
    age=$(($(date +%s) - born)) # below zero: from a machine whose clock was ahead
    if [ "$age" -lt 30 ] && [ "$age" -gt -60 ]; then return 1; fi
  fi
  next=$((top + 1))
  [ ! -h "$lock.d" ] || broken symlink
  message=$(mkdir -p "$lock.d" 2>&1) || broken "$message"
  if ! message=$(mkdir "$lock.d/$next" 2>&1); then
    [ -d "$lock.d/$next" ] || broken "$message"
    return 1
  fi
  highest
  if [ "$top" -ne "$next" ]; then # looked before others came and went: this number is of the past
    rmdir "$lock.d/$next"
    return 1
  fi
  mine=$next
  for entry in "$lock.d"/*; do
    case ${entry##*/} in 0* | *[!0-9]* | ????????????*) continue ;; esac
    if [ "${entry##*/}" -lt "$mine" ]; then rm -rf "$entry"; fi
  done
}

take_lock() {
  if command -v flock >/dev/null 2>&1; then
    try() { flock -n 9; }
  elif command -v perl >/dev/null 2>&1; then
    try() { perl -e "open(F, q(>>&=9)) && flock(F, 6) or exit 1"; }
  elif command -v python3 >/dev/null 2>&1; then
    try() { python3 -c "import fcntl; fcntl.flock(9, 6)" 2>/dev/null; }
  else
    try() { take_folder; }
  fi
  message=$({ true >> "$lock"; } 2>&1) || broken "$message"
  exec 9>> "$lock"
  waited=0
  until try; do
    if [ "$waited" -ge "$patience" ]; then
      give_up busy 0
    fi
    if sleep 0.05 2>/dev/null; then waited=$((waited + 6)); else sleep 1 && waited=$((waited + 100)); fi
  done
}

# Before each step: does this process still hold the lock? Only a folder lock can be lost.
still_held() {
  [ -n "$mine" ] || return 0
  highest
  if [ "$top" -ne "$mine" ]; then
    mine=
    broken "lost the lock to another process while a step took more than 30 s"
  fi
  touch "$lock.d/$mine"
}

# ---- Steps. Each sets verdict: ok, changed, or what went wrong.

part() { tail -c "+$((base + offset + 1))" "$bundle" | head -c "$length"; }

# Whether the last write is on the disk; where dd knows no fsync, nothing is.
synced() { [ -n "$no_fsync" ] || dd if=/dev/null of="$1" conv=notrunc,fsync; }

check() {
  find_kind "$path"
  case $kind in
    file | missing) verdict=ok ;;
    *)
      verdict=$kind
      return
      ;;
  esac
  if [ "$guard" = - ]; then return; fi
  if [ "$kind" = file ] && [ ! -r "$p" ]; then
    verdict=denied
  elif [ "$verb" = A ]; then
    if [ "$kind" = missing ]; then
      [ "$guard" -eq 0 ] || verdict=changed
    elif [ "$(size_of "$p")" != "$guard" ]; then
      verdict=changed
    elif ! hex "$(tail -c 4096 "$p" | hash)" || [ "$hex" != "$guard2" ]; then
      verdict=changed
    fi
  elif ! find_digest "$p"; then
    verdict=denied
  elif [ "$found" != "$guard" ]; then
    verdict=changed
  fi
}

append() {
  created="" old=0
  if [ "$kind" = missing ]; then
    created=1
    if ! message=$({ make_folder "${p%/*}" && true >> "$p" && share "$p" 640; } 2>&1); then
      verdict=${message:-cannot be made}
      return
    fi
  elif [ ! -r "$p" ]; then
    verdict=denied
    return
  else
    old=$(size_of "$p")
    if [ "$old" -gt 0 ] && [ "$(tail -c 1 "$p" | wc -l)" -eq 0 ]; then
      offset=$((offset - 1)) length=$((length + 1)) # a newline stands before the data, for a torn line
    fi
  fi
  want=$((old + length)) failed=
  message=$({ part >> "$p" && synced "$p"; } 2>&1) || failed=1
  now=$(size_of "$p")
  if [ -z "$failed" ] && [ "$now" -ge "$want" ]; then
    say size "$line" "$now"
    return
  fi
  verdict=${message:-there was room for a part of the data only}
  if [ "$now" -gt "$want" ]; then return; fi # a shell has appended behind it without asking for a lock
  if [ -n "$created" ]; then
    rm -f "$p"
  elif [ "$now" -gt "$old" ]; then
    dd if=/dev/null of="$p" bs=1 seek="$old" count=0 2>/dev/null
  fi
}

write_temporary() {
  temporary=${p%/*}/.sandbox-memory-$id.tmp
  make_folder "${p%/*}" || return 1
  part > "$temporary" || return 1
  if [ "$(size_of "$temporary")" -ne "$length" ]; then return 1; fi
  if [ -n "$before" ]; then
    chown "${before#* }" "$temporary" 2>/dev/null
    chmod "${before%% *}" "$temporary" 2>/dev/null
  else
    share "$temporary" 640
  fi
  synced "$temporary"
}

drop() {
  if [ -n "$temporary" ]; then rm -f "$temporary"; fi
  if [ -n "$aside" ]; then rm -f "$aside"; fi
  temporary="" aside=""
}

# How the names of displaced files are made, here and in a local workspace; empty where that is too long.
name_aside() { # expected, new
  aside=$2
  case $aside in absent) ;; *) aside=${2%"${2#????????????????}"} ;; esac
  aside=.sandbox-memory-$id-${1%"${1#????????????????}"}-$aside-${p##*/}.tmp
  if [ ${#aside} -gt 255 ]; then aside=; else aside=${p%/*}/$aside; fi
}

# Decide about a displaced file: drop what was expected there, or our own; put back what somebody else saved.
settle() { # the file, its place, what was expected there, what took its place
  find_digest "$1" || return
  out=$found
  case $out in "$3"*)
    rm -f "$1"
    return
    ;;
  esac
  verdict=changed
  find_digest "$2" || return
  here=$found
  if [ "$here" = "$out" ] && [ "$out" != unknown ]; then out=$4; fi
  case $out in "$4"*)
    rm -f "$1"
    return
    ;;
  esac
  case $here in
    absent) if ln "$1" "$2" 2>/dev/null; then rm -f "$1"; else mv -f "$1" "$2"; fi ;;
    "$4"*) mv -f "$1" "$2" ;;
    *) mv -f "$1" "$2.saved-$id" ;;
  esac
}

replace() {
  before="" found=absent
  if [ "$kind" = file ]; then
    if ! find_digest "$p"; then
      verdict=denied
      return
    fi
    before=$(stat -c "%a %u:%g" "$p" 2>/dev/null || stat -f "%Lp %u:%g" "$p" 2>/dev/null)
  fi
  if [ "$guard" != - ] && [ "$guard" != "$found" ]; then
    verdict=changed
    return
  fi
  if [ "$found" = "$new" ]; then return; fi
  if ! message=$(write_temporary 2>&1); then
    temporary=${p%/*}/.sandbox-memory-$id.tmp
    verdict=${message:-there was room for a part of the data only}
    drop
    return
  fi
  temporary=${p%/*}/.sandbox-memory-$id.tmp
  case $guard in
    -) message=$(mv -f "$temporary" "$p" 2>&1) || verdict=${message:-cannot be renamed} ;;
    absent)
      if ! ln "$temporary" "$p" 2>/dev/null; then
        if [ -e "$p" ] || [ -h "$p" ]; then
          verdict=changed
        else
          message=$(mv -f "$temporary" "$p" 2>&1) || verdict=${message:-cannot be renamed}
        fi
      fi
      ;;
    *)
      name_aside "$guard" "$new"
      # A second name for the old file shows afterwards whether somebody wrote into it in the last moment.
      { [ -n "$aside" ] && ln "$p" "$aside" 2>/dev/null; } || aside=
      if ! find_digest "$p" || [ "$found" != "$guard" ]; then
        verdict=changed
      elif ! message=$(mv -f "$temporary" "$p" 2>&1); then
        verdict=${message:-cannot be renamed}
      elif [ -n "$aside" ]; then
        settle "$aside" "$p" "$guard" "$new"
        aside=
      fi
      ;;
  esac
  drop
}

delete() {
  if [ "$kind" = missing ]; then
    case $guard in - | absent) ;; *) verdict=changed ;; esac
  elif [ "$guard" = - ]; then
    message=$(rm -f "$p" 2>&1) || verdict=${message:-cannot be removed}
  elif ! find_digest "$p"; then
    verdict=denied
  elif [ "$found" != "$guard" ]; then
    verdict=changed
  else
    name_aside "$guard" absent
    if [ -z "$aside" ]; then
      message=$(rm -f "$p" 2>&1) || verdict=${message:-cannot be removed}
    elif message=$(mv -f "$p" "$aside" 2>&1); then
      settle "$aside" "$p" "$guard" absent
    else
      verdict=${message:-cannot be removed}
    fi
    aside=
  fi
}

# Clear away what killed processes left in a folder. Under the lock, nobody is at work on any of it.
clear() {
  find_kind "$path"
  [ "$kind" = folder ] || return 0
  folder=$p
  for entry in "$folder"/.sandbox-memory-*.tmp; do
    if [ ! -f "$entry" ] && [ ! -h "$entry" ]; then continue; fi
    token=${entry##*/.sandbox-memory-} token=${token%.tmp}
    case $token in
      *-*-*-*)
        place=${token#*-} expected=${place%%-*} place=${place#*-} new=${place%%-*} place=$folder/${place#*-}
        settle "$entry" "$place" "$expected" "$new"
        ;;
      *.part) # sent before the lock was taken
        token=${token%.part}
        case $token in "$id" | *[!0-9a-f]*) continue ;; esac
        born=$(date -r "$entry" +%s 2>/dev/null) || continue
        if [ $(($(date +%s) - born)) -gt 600 ]; then rm -f "$entry"; fi
        ;;
      *[!0-9a-f]*) ;;
      *) rm -f "$entry" ;;
    esac
  done
}

report() {
  case $verdict in
    ok) return ;;
    changed) word=conflict ;;
    *) word=fail ;;
  esac
  if [ "$required" = 1 ]; then
    give_up "$word" "$line" "$verdict"
  fi
  say skip "$line" "$verdict"
  skipped="$skipped$line "
}

# ---- The call

trap leave EXIT
trap "exit 1" HUP INT TERM
find_kind "$1"
case $kind in file | missing) ;; *) broken "$kind" ;; esac
private=""
message=$(make_folder "$home" 2>&1) || broken "$message"
if [ "$6" = file ]; then
  chmod 600 "$bundle" 2>/dev/null
else
  message=$( (printf "%s" "$7" > "$bundle") 2>&1) || give_up broken 1 "$message"
fi
find_digest "$bundle" || give_up broken 1 "no program there can make a SHA-256"
[ "$found" = "$sum" ] || give_up damaged 1
no_fsync=
dd if=/dev/null of="$bundle" conv=notrunc,fsync 2>/dev/null || no_fsync=1
take_lock

skipped=" "
for phase in clear check run; do
  exec 3< "$bundle"
  line=0
  while [ "$line" -lt "$lines" ]; do
    line=$((line + 1))
    IFS=" " read -r verb required private offset length new guard guard2 path <&3
    path=${path#|} path=${path%|}
    [ "$private" = 1 ] || private=
    case $phase$verb$skipped in
      clearF*) clear ;;
      clear* | checkF* | runF* | *" $line "*) ;;
      check*)
        check
        report
        ;;
      run*)
        still_held
        find_kind "$path"
        verdict=ok
        case $kind$verb in
          fileA | missingA) append ;;
          fileR | missingR) replace ;;
          fileD | missingD) delete ;;
          *) verdict=$kind ;;
        esac
        report
        ;;
    esac
  done
done
say end 0
