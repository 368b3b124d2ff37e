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

# Lets readline complete the name of a file, or of a folder, if there is no other completion: it quotes blanks.
_sukima_files() {
  compopt -o default 2>/dev/null
}
_sukima_folders() {
  compopt -o dirnames 2>/dev/null
}

# A program in PATH, or a file.
_sukima_command() {
  [[ $cur == */* ]] || mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  _sukima_files
}

# After -- a program and its arguments; 1 if there is no -- yet.
_sukima_program() {
  local word
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    [[ $word == -- ]] || continue
    if [[ $previous == -- ]]; then _sukima_command; else _sukima_files; fi
    return 0
  done
  return 1
}

_sukima_calibrate() {
  case $previous in
    --output) _sukima_files ;;
    --cpus | --days) ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "--help --cpus --all-pairs --days --output --show --json" -- "$cur")
      ;;
  esac
}

_sukima_probe() {
  case $previous in
    --pid) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur") ;;
    --at-least | --interval | --count) ;;
    --root | --record) _sukima_folders ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "--help --pid --json --prometheus --threads --runtimes --steal --pairs --root --record --at-least --strict --watch \
        --interval --count" -- "$cur")
      ;;
  esac
}

_sukima_cluster() {
  _sukima_program && return
  case $previous in
    --json | --hosts) _sukima_files ;;
    -n | --nodes | --port | --room | --grace | --ssh) ;;
    cluster) mapfile -t COMPREPLY < <(compgen -W "run join --help --nodes --hosts --ssh --ssh-tunnel --port --room --hope --grace --no-tags --no-prefix --report --json" -- "$cur") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "--help --nodes --hosts --ssh --ssh-tunnel --port --room --hope --grace --no-tags --no-prefix --report --json --" -- "$cur") ;;
  esac
}

_sukima_objects() {
  _sukima_program && return
  case $previous in
    --model) mapfile -t COMPREPLY < <(compgen -W "simulation paper" -- "$cur") ;;
    --cpus | --seconds) ;;
    objects)
      mapfile -t COMPREPLY < <(compgen -W "record plan validate calibrate --help --cpus --model --output --seconds --load --quick --json" -- "$cur")
      ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --cpus --model --output --seconds --load --quick --json --" -- "$cur")
      else
        _sukima_files
      fi
      ;;
  esac
}

_sukima_host() {
  case $previous in
    --method) mapfile -t COMPREPLY < <(compgen -W "exact partition formula" -- "$cur") ;;
    --by) mapfile -t COMPREPLY < <(compgen -W "progress use" -- "$cur") ;;
    --weight-of) mapfile -t COMPREPLY < <(compgen -W "vcpu vm" -- "$cur") ;;
    --root) _sukima_folders ;;
    --connect | --cgroup | --interval | --count) ;;
    help) mapfile -t COMPREPLY < <(compgen -W "list watch record estimate explain optimise act status revert" -- "$cur") ;;
    host)
      mapfile -t COMPREPLY < <(compgen -W "list watch record estimate explain optimise act status revert help \
        --help --method --weight-of --since --config --journal --by --dry-run --metrics --no-times --json --connect --qmp --cgroup --domstats --root --interval --count" -- "$cur")
      ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --method --weight-of --since --config --journal --by --dry-run --metrics --no-times --json --connect --qmp --cgroup --domstats --root --interval --count" -- "$cur")
      else
        _sukima_files
      fi
      ;;
  esac
}

_sukima_lab() {
  case $previous in
    --folder) _sukima_folders ;;
    --repetitions | --cpus) ;;
    lab)
      mapfile -t COMPREPLY < <(compgen -W "list run all report simulate --help --folder --repetitions --cpus --quick --dry-run --plot --html --json" -- "$cur")
      ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --folder --repetitions --cpus --quick --dry-run --plot --html --json" -- "$cur")
      elif [[ ${COMP_WORDS[2]} == run && $previous != --html ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sukima lab list 2>/dev/null | awk '/^  / {print $1}')" -- "$cur")
        _sukima_files
      elif [[ ${COMP_WORDS[2]} == simulate ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sukima lab simulate 2>/dev/null | cut -d : -f 1)" -- "$cur")
      else
        _sukima_files
      fi
      ;;
  esac
}

_sukima_guest() {
  case $previous in
    --port | --socket) _sukima_files ;;
    --root) _sukima_folders ;;
    --user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "--help --port --socket --user --root --restore --json" -- "$cur")
      ;;
  esac
}

_sukima_run() {
  _sukima_program && return
  case $previous in
    --round) mapfile -t COMPREPLY < <(compgen -W "floor ceil nearest" -- "$cur") ;;
    --resize) mapfile -t COMPREPLY < <(compgen -W "never unless-asked always" -- "$cur") ;;
    --output) _sukima_files ;;
    --threads | --min | --max | --reserve) ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "--help --threads --min --max --reserve --round --resize --pin --no-preload \
        --dry-run --report --json --output --" -- "$cur")
      ;;
  esac
}

# A trace, or after -- a program and its arguments.
_sukima_explain() {
  _sukima_program && return
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--help --json --html --keep --" -- "$cur")
  else
    _sukima_files
  fi
}

_sukima() {
  local cur="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  # Bash makes three words of OPTION=VALUE.
  if [[ $cur == = ]]; then
    cur=""
  elif [[ $previous == = ]]; then
    previous="${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "bench calibrate cc cluster explain guest host lab objects probe run --help --version" -- "$cur")
    return
  fi
  case ${COMP_WORDS[1]} in
    calibrate | cluster | explain | guest | host | lab | objects | probe | run)
      "_sukima_${COMP_WORDS[1]}"
      return
      ;;
  esac
  if [[ ${COMP_WORDS[1]} == cc ]]; then
    if [[ $previous == --backend || $previous == --launcher ]]; then
      _sukima_command
    elif [[ $previous == -fclosures ]]; then
      mapfile -t COMPREPLY < <(compgen -W "frame unwind exceptions" -- "$cur")
    elif [[ $cur == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "--backend= --launcher= --emit-c --sequential --no-clones --cluster -fcheck-closures -fclosures=frame -fclosures=unwind -fclosures=exceptions --help --version -c -o -O3 -g" -- "$cur")
    else
      _sukima_files
    fi
    return
  fi
  [[ ${COMP_WORDS[1]} == bench ]] || return
  case $previous in
    --peers) _sukima_list_item "all none $(_sukima_listed systems | grep -vx -e sequential -e sukima)" ;;
    --scenario)
      if [[ " ${COMP_WORDS[*]} " == *" --hope "* ]]; then
        _sukima_list_item "none alone kill-1 kill-2 kill-3"
      else
        _sukima_list_item "$(_sukima_listed scenarios)"
      fi
      ;;
    --compiler) mapfile -t COMPREPLY < <(compgen -W "best gcc clang both" -- "$cur") ;;
    --transport) mapfile -t COMPREPLY < <(compgen -W "tcp openmpi mpich" -- "$cur") ;;
    --csv | --plot) _sukima_files ;;
    --workers | --repetitions | --size | --time-limit | --peer-time | --worst | --external | --nodes | --quota | --seed) ;;
    *)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --workers --peers --scenario --repetitions --size --compiler \
          --external --time-limit --peer-time --worst --nodes --transport --quota --hope --seed --json \
          --csv --plot --verbose --list" -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -W "all $(_sukima_listed benchmarks)" -- "$cur")
      fi
      ;;
  esac
}

complete -F _sukima sukima
