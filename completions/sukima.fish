# SPDX-License-Identifier: Apache-2.0
# Fish completion of the program sukima.

# The names that `sukima bench --list` has under the heading $argv[1].
function __sukima_listed
    sukima bench --list 2>/dev/null | awk -v heading="$argv[1]" '/^[^ ]/ {on = ($1 ~ "^" heading)} on && /^ / {print $1}'
end

function __sukima_peers
    printf '%s\n' all none
    __sukima_listed systems | grep -vx -e sequential -e sukima
end

set -l bench '__fish_seen_subcommand_from bench'
set -l cc '__fish_seen_subcommand_from cc'
set -l explain '__fish_seen_subcommand_from explain'
set -l calibrate '__fish_seen_subcommand_from calibrate'
set -l probe '__fish_seen_subcommand_from probe'
set -l run '__fish_seen_subcommand_from run'

complete -c sukima -f
complete -c sukima -s h -l help -d 'Print a help text and exit'
complete -c sukima -n __fish_use_subcommand -l version -d 'Print the version and exit'
complete -c sukima -n __fish_use_subcommand -a bench -d 'Measure benchmarks'
complete -c sukima -n __fish_use_subcommand -a cc -d 'Compile programs of the Tascell language'
complete -c sukima -n __fish_use_subcommand -a explain -d 'Tell what a run did'
complete -c sukima -n __fish_use_subcommand -a calibrate -d 'Measure the CPUs'
complete -c sukima -n $calibrate -x -l cpus -d 'Only these CPUs'
complete -c sukima -n $calibrate -l all-pairs -d 'All pairs also of a large machine'
complete -c sukima -n $calibrate -x -l days -d 'How long the profile is to hold'
complete -c sukima -n $calibrate -r -F -l output -d 'Keep the profile in a file'
complete -c sukima -n $calibrate -l show -d 'Print the profile that there is'
complete -c sukima -n $calibrate -l json -d 'Print one JSON object'
complete -c sukima -n __fish_use_subcommand -a probe -d 'Tell how many CPUs can be used'
complete -c sukima -n __fish_use_subcommand -a run -d 'Run a program with threads that fit'
complete -c sukima -n $probe -x -l pid -a '(__fish_complete_pids)' -d 'Look at this process'
complete -c sukima -n $probe -l json -d 'Print one JSON object'
complete -c sukima -n $probe -l threads -d 'Print only how many threads to start'
complete -c sukima -n $probe -l runtimes -d 'Also ask the installed runtimes'
complete -c sukima -n $probe -l gaps -d 'Also look for time that a hypervisor takes in silence'
complete -c sukima -n $probe -l pairs -d 'Which CPUs slow each other down'
complete -c sukima -n $probe -x -l at-least -d 'Exit with 3 if there are fewer CPUs'
complete -c sukima -n $probe -l strict -d 'Exit with 4 if there are warnings'
complete -c sukima -n $probe -l watch -d 'Look again and again'
complete -c sukima -n $probe -x -l interval -d 'Seconds between two looks'
complete -c sukima -n $probe -x -l count -d 'End after so many looks'
complete -c sukima -n $run -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c sukima -n $run -x -l threads -d 'Take this number'
complete -c sukima -n $run -x -l min -d 'Never fewer threads'
complete -c sukima -n $run -x -l max -d 'Never more threads'
complete -c sukima -n $run -x -l reserve -d 'Leave CPUs to others'
complete -c sukima -n $run -x -l round -a 'floor ceil nearest' -d 'How a fraction counts'
complete -c sukima -n $run -x -l resize -a 'auto always never' -d 'When OpenMP programs change their threads'
complete -c sukima -n $run -l pin -d 'Also pin the program'
complete -c sukima -n $run -l no-preload -d 'Only set variables'
complete -c sukima -n $run -l dry-run -d 'Print the variables'
complete -c sukima -n $run -l report -d 'Tell at the end what was decided'
complete -c sukima -n $run -l json -d 'The report as one JSON object'
complete -c sukima -n $run -r -F -l output -d 'Write the report to a file'
complete -c sukima -n $cc -F
complete -c sukima -n $cc -x -l backend -d 'The C compiler behind'
complete -c sukima -n $cc -l emit-c -d 'Write the C translation'
complete -c sukima -n $cc -l sequential -d 'Leave out all that is parallel'
complete -c sukima -n $cc -o fcheck-closures -d 'Stop at calls of closures whose block has been left'
complete -c sukima -n $cc -o fclosures=frame -d 'Closures keep their variables in memory'
complete -c sukima -n $cc -o fclosures=unwind -d 'Closures leave their variables in registers until they are called'
complete -c sukima -n $explain -F
complete -c sukima -n $explain -l json -d 'The story as one JSON object'
complete -c sukima -n $explain -r -l keep -d 'Keep the trace of the program'
complete -c sukima -n $bench -a 'all (__sukima_listed benchmarks)'
complete -c sukima -n $bench -x -l workers -d 'Numbers of workers'
complete -c sukima -n $bench -x -l peers -a '(__fish_complete_list , __sukima_peers)' -d 'Peers to measure'
complete -c sukima -n $bench -x -l scenario -a '(__fish_complete_list , "__sukima_listed scenarios")' -d 'Conditions to measure under'
complete -c sukima -n $bench -x -l repetitions -d 'Number of rounds'
complete -c sukima -n $bench -x -l size -d 'Problem size'
complete -c sukima -n $bench -x -l compiler -a 'best gcc clang both' -d 'Program of a system that comes in two'
complete -c sukima -n $bench -x -l external -d 'A further system, NAME=COMMAND'
complete -c sukima -n $bench -x -l time-limit -d 'Seconds after which a run is killed'
complete -c sukima -n $bench -x -l peer-time -d 'Seconds after which a slow peer is not repeated'
complete -c sukima -n $bench -l json -d 'One JSON object a line'
complete -c sukima -n $bench -r -F -l csv -d 'Also write comma-separated values'
complete -c sukima -n $bench -r -F -l plot -d 'Also draw PREFIX.png and PREFIX.svg'
complete -c sukima -n $bench -s v -l verbose -d 'Also paired ratios'
complete -c sukima -n $bench -l list -d 'Show benchmarks, systems and scenarios'
