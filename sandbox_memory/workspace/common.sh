# Begins both scripts that run inside a sandbox session. Any POSIX shell, GNU or busybox tools; no apostrophes, since
# sessions quote a command more than once. Before it stand: cd into the root, and id, a token of this call.
LC_ALL=C
export LC_ALL

# What is at the path $1? Sets p, and kind: file, missing, or one of the words for what is never touched.
find_kind() {
  p=./$1 rest=$1 at=.
  while :; do
    case $rest in */*) ;; *) break ;; esac
    at=$at/${rest%%/*} rest=${rest#*/}
    if [ -h "$at" ]; then
      kind=parent-symlink
      return
    elif [ -d "$at" ]; then
      if [ ! -x "$at" ]; then
        kind=denied
        return
      fi
    elif [ -e "$at" ]; then
      kind=parent-other
      return
    else
      kind=missing
      return
    fi
  done
  if [ -h "$p" ]; then
    kind=symlink
  elif [ -f "$p" ]; then
    kind=file
  elif [ -d "$p" ]; then
    kind=folder
  elif [ -p "$p" ]; then
    kind=fifo
  elif [ -e "$p" ]; then
    kind=special
  else
    kind=missing
  fi
}
