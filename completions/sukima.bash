# SPDX-License-Identifier: Apache-2.0
# Bash completion of the program sukima.

# The names that `sukima bench --list` has under the heading $1.
_sukima_listed() {
  sukima bench --list 2>/dev/null | awk -v heading="$1" '/^[^ ]/ {on = ($1 ~ "^" heading)} on && /^ / {print $1}'
}

# Completes the last word of a list separated by commas from the words $1, leaving the words before it.
_sukima_list_item() {
  local before="" last="$cur" word
  if [[ $cur == *,* ]]; then
    before="${cur%,*},"
    last="${cur##*,}"
  fi
  for word in $(compgen -W "$1" -- "$last"); do
    COMPREPLY+=("$before$word")
  done
  compopt -o nospace 2>/dev/null
}

# A trace, or after -- a program and its arguments.
_sukima_explain() {
  local word
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    [[ $word == -- ]] || continue
    if [[ $previous == -- ]]; then
      mapfile -t COMPREPLY < <(compgen -A command -A file -- "$cur")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    return
  done
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--help --json --keep --" -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}

_sukima() {
  local cur="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "bench explain --help --version" -- "$cur")
    return
  fi
  if [[ ${COMP_WORDS[1]} == explain ]]; then
    _sukima_explain
    return
  fi
  [[ ${COMP_WORDS[1]} == bench ]] || return
  case $previous in
    --peers) _sukima_list_item "all none $(_sukima_listed systems | grep -vx -e sequential -e sukima)" ;;
    --scenario) _sukima_list_item "$(_sukima_listed scenarios)" ;;
    --compiler) mapfile -t COMPREPLY < <(compgen -W "best gcc clang both" -- "$cur") ;;
    --csv | --plot) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    --workers | --repetitions | --size | --time-limit | --peer-time | --external) ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --workers --peers --scenario --repetitions --size --compiler \
          --external --time-limit --peer-time --json --csv --plot --verbose --list" -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -W "all $(_sukima_listed benchmarks)" -- "$cur")
      fi
      ;;
  esac
}

complete -F _sukima sukima
