# Reads files and lists folders. Arguments: 1 raw or base64; 2 text or file; 3 the requests, or the path of the file
# that holds them. A request is a line: F and the folder between bars; or A, start, limit or -, and the path between bars.
#
# Output: a line of bytes that shows whether they arrive unharmed, then for each request, in order,
#   <newline><id> F <kind> <newline> size and name of each file, each ended by a NUL or a newline
#   <newline><id> A <kind> <newline> content <newline><id> Z <exit code>
# and at last <newline><id> E. The id is random, so that no content holds it. As base64, all this comes after a line
# "<id> base64".

mark() { printf "\n%s %s\n" "$id" "$1"; }

# How to list names with sizes, found out once: one process for a folder, not one for each file.
lister=
find_lister() {
  if find . -maxdepth 0 -printf "" 2>/dev/null; then
    lister=printf
  elif stat -c %s . >/dev/null 2>&1; then
    lister=stat
  elif stat -f %z . >/dev/null 2>&1; then
    lister=bsd
  else
    lister=ls
  fi
}

list() {
  [ -n "$lister" ] || find_lister
  mark "F folder $lister"
  case $lister in
    printf) find "$p/" -maxdepth 1 -type f -printf "%s %f\0" ;;
    stat) find "$p/" -maxdepth 1 -type f -exec stat -c "%s %n" {} + ;;
    bsd) find "$p/" -maxdepth 1 -type f -exec stat -f "%z %N" {} + ;;
    ls) ls -lnA "$p/" ;;
  esac 2>/dev/null
}

send() { # start limit
  if [ "$2" != - ]; then
    if [ "$1" -eq 0 ]; then
      head -c "$2" "$p"
    else
      tail -c "+$(($1 + 1))" "$p" | head -c "$2"
    fi
  elif [ "$1" -eq 0 ]; then
    cat "$p"
  else
    tail -c "+$(($1 + 1))" "$p"
  fi 2>/dev/null
}

answer() {
  printf "%s \377\200\000\t\r\n" "$id"
  while IFS=" " read -r verb rest <&3; do
    case $verb in
      F)
        rest=${rest#|}
        find_kind "${rest%|}"
        if [ "$kind" = folder ] && [ -r "$p" ] && [ -x "$p" ]; then
          list
        elif [ "$kind" = folder ]; then
          mark "F denied"
        else
          case $kind in fifo | special) kind=file ;; esac
          mark "F $kind"
        fi
        ;;
      A)
        start=${rest%% *} rest=${rest#* }
        limit=${rest%% *} rest=${rest#* |}
        find_kind "${rest%|}"
        if [ "$kind" = file ] && [ ! -r "$p" ]; then kind=denied; fi
        mark "A $kind"
        if [ "$kind" = file ]; then
          send "$start" "$limit"
          code=$?
          if [ ! -e "$p" ]; then code=gone; fi
          mark "Z $code"
        fi
        ;;
    esac
  done
  mark E
}

requests() {
  if [ "$2" = file ]; then
    cat "$3" && rm -f "$3"
  else
    printf "%s" "$3"
  fi
}

if [ "$1" = base64 ]; then
  printf "\n%s base64\n" "$id"
  requests "$@" | answer 3<&0 </dev/null | { base64 2>/dev/null || openssl base64; }
else
  requests "$@" | answer 3<&0 </dev/null
fi
