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

function __sukima_scenarios
    if contains -- --hope (commandline -opc)
        printf '%s\n' none alone kill-1 kill-2 kill-3
    else
        __sukima_listed scenarios
    end
end

# Whether this is the command: others have words like `run` as arguments.
function __sukima_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end

# Whether the action of a command is help, so that the name of another action comes next.
function __sukima_asks_help
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test $words[3] = help
end

# Whether a program comes after --, and its completions.
function __sukima_has_program
    contains -- -- (commandline -opc)
end
function __sukima_program
    set -l words (commandline -opc)
    set -l begin (math (contains -i -- -- $words) + 1)
    complete -C (string join ' ' -- (string escape -- $words[$begin..]) (commandline -ct))
end

set -l bench '__sukima_is bench'
set -l cc '__sukima_is cc'
set -l cluster '__sukima_is cluster'
set -l explain '__sukima_is explain'
set -l calibrate '__sukima_is calibrate'
set -l guest '__sukima_is guest'
set -l host '__sukima_is host'
set -l lab '__sukima_is lab'
set -l objects '__sukima_is objects'
set -l probe '__sukima_is probe'
set -l run '__sukima_is run'

complete -c sukima -f
complete -c sukima -n __sukima_has_program -a '(__sukima_program)'
complete -c sukima -s h -l help -d 'Print a help text and exit'
complete -c sukima -n __fish_use_subcommand -l version -d 'Print the version and exit'
complete -c sukima -n __fish_use_subcommand -a bench -d 'Measure benchmarks'
complete -c sukima -n __fish_use_subcommand -a cc -d 'Compile programs of the Tascell language'
complete -c sukima -n __fish_use_subcommand -a explain -d 'Report where the time of a run went'
complete -c sukima -n __fish_use_subcommand -a calibrate -d 'Measure the CPUs'
complete -c sukima -n $calibrate -x -l cpus -d 'Measure only these CPUs'
complete -c sukima -n $calibrate -l all-pairs -d 'Measure all pairs, also on a large machine'
complete -c sukima -n $calibrate -x -l days -d 'Days for which the profile is valid'
complete -c sukima -n $calibrate -r -F -l output -d 'Store the profile in a file'
complete -c sukima -n $calibrate -l show -d 'Print the stored profile'
complete -c sukima -n $calibrate -l json -d 'Print one JSON object'
complete -c sukima -n __fish_use_subcommand -a guest -d 'Give programs in a virtual machine their number'
complete -c sukima -n $guest -r -F -l port -d 'The port of the host'
complete -c sukima -n $guest -r -F -l socket -d 'Where programs report'
complete -c sukima -n $guest -x -l user -a '(__fish_complete_users)' -d 'Programs of this user may report, too'
complete -c sukima -n $guest -x -l root -a '(__fish_complete_directories)' -d 'Where /sys and /run are'
complete -c sukima -n $guest -l restore -d 'Switch CPUs on again that a killed service left off'
complete -c sukima -n $guest -l json -d 'Print each event as a JSON object'
complete -c sukima -n __fish_use_subcommand -a host -d 'Report what each virtual machine can use'
complete -c sukima -n '__sukima_is host; and not __sukima_asks_help' -F -a 'list watch record estimate explain optimise act status revert help'
complete -c sukima -n '__sukima_is host; and __sukima_asks_help' -f -a 'list watch record estimate explain optimise act status revert'
complete -c sukima -n $host -x -l method -a 'exact partition formula' -d 'How'
complete -c sukima -n $host -x -l weight-of -a 'vcpu vm' -d 'Owner of each weight'
complete -c sukima -n $host -r -F -l since -d 'Compare with an earlier description'
complete -c sukima -n $host -r -F -l config -d 'The machines that may be acted on'
complete -c sukima -n $host -r -F -l journal -d 'File in which acts are recorded'
complete -c sukima -n $host -x -l by -a 'progress use' -d 'What optimise judges by'
complete -c sukima -n $host -l dry-run -d 'Do everything except the acts'
complete -c sukima -n $host -r -F -l metrics -d 'Publish metrics at a port or in a file'
complete -c sukima -n $host -l no-times -d 'Print lines without their times'
complete -c sukima -n $host -l json -d 'Print one JSON object'
complete -c sukima -n $host -x -l connect -a 'qemu:///system qemu:///session xen:///system' -d 'Read the domains of this libvirt'
complete -c sukima -n $host -r -F -l qmp -d 'Read the machine of this QMP socket'
complete -c sukima -n $host -x -l cgroup -d 'Read this control group'
complete -c sukima -n $host -r -F -l domstats -d 'Read what virsh domstats printed'
complete -c sukima -n $host -r -F -l root -d 'Read a recorded machine'
complete -c sukima -n $host -x -l interval -d 'Seconds between two readings'
complete -c sukima -n $host -x -l count -d 'End after this many readings'
complete -c sukima -n __fish_use_subcommand -a cluster -d 'Run a program on several nodes'
complete -c sukima -n $cluster' && not __sukima_has_program' -f -a 'run join'
complete -c sukima -n $cluster -x -s n -l nodes -d 'How many nodes'
complete -c sukima -n $cluster -r -F -l hosts -d 'Start the nodes on the hosts that a file names'
complete -c sukima -n $cluster -x -l ssh -d 'With --hosts, the command that reaches a host'
complete -c sukima -n $cluster -l ssh-tunnel -d 'Nodes reach each other through ssh alone'
complete -c sukima -n $cluster -x -l port -d 'The port, or FIRST-LAST, where nodes listen'
complete -c sukima -n $cluster -x -l room -d 'How many more nodes may join'
complete -c sukima -n $cluster -l hope -d 'Go on as long as one node lives'
complete -c sukima -n $cluster -x -l grace -d 'How long the others may go on when node 0 has ended'
complete -c sukima -n $cluster -l no-tags -d 'Do not begin lines on stderr with their node'
complete -c sukima -n $cluster -l report -d 'Print how the nodes ended, and the messages and tasks that they counted'
complete -c sukima -n $cluster -l no-prefix -d 'Do not begin lines that tasks print with their node'
complete -c sukima -n $cluster -r -F -l json -d 'Write how each node ended, and what it counted, to a file'
complete -c sukima -n __fish_use_subcommand -a lab -d 'Repeat experiments on programs that lack CPU'
complete -c sukima -n $lab -F -a 'list run all report simulate'
complete -c sukima -n $lab' && __fish_seen_subcommand_from run' -a '(sukima lab list 2>/dev/null | awk "/^  / {print \$1}")' -d Experiment
complete -c sukima -n $lab' && __fish_seen_subcommand_from simulate' -a '(sukima lab simulate 2>/dev/null | string split -f 1 :)' -d Experiment
complete -c sukima -n $lab -x -l folder -a '(__fish_complete_directories)' -d 'Where the runs are stored'
complete -c sukima -n $lab -x -l repetitions -d 'Rounds, in place of the number of the experiment'
complete -c sukima -n $lab -x -l cpus -d 'Use this many CPUs'
complete -c sukima -n $lab -l quick -d 'Few repetitions and small sizes'
complete -c sukima -n $lab -l dry-run -d 'Print what would be run'
complete -c sukima -n $lab -l plot -d 'Draw PNG and SVG files in the folder'
complete -c sukima -n $lab -r -F -l html -d 'Write the report as one page of HTML'
complete -c sukima -n $lab -l json -d 'Print one JSON object'
complete -c sukima -n __fish_use_subcommand -a objects -d 'Plan a program of concurrent objects'
complete -c sukima -n $objects' && not __sukima_has_program' -F -a 'record plan validate calibrate'
complete -c sukima -n $objects -x -l cpus -d 'Plan for this number of CPUs'
complete -c sukima -n $objects -l load -d 'Plan for the CPUs that other programs leave now'
complete -c sukima -n $objects -x -l model -a 'simulation paper' -d 'What decides'
complete -c sukima -n $objects -r -F -l output -d 'Store the plan, or what was recorded, in a file'
complete -c sukima -n $objects -x -l seconds -d 'Record for at most this time'
complete -c sukima -n $objects -l quick -d 'Validate with one run under each model'
complete -c sukima -n $objects -l json -d 'Print one JSON object'
complete -c sukima -n __fish_use_subcommand -a probe -d 'Report how many CPUs can be used'
complete -c sukima -n __fish_use_subcommand -a run -d 'Run a program with threads that fit'
complete -c sukima -n $probe -x -l pid -a '(__fish_complete_pids)' -d 'Examine this process'
complete -c sukima -n $probe -l json -d 'Print one JSON object'
complete -c sukima -n $probe -l prometheus -d 'Print metrics for Prometheus'
complete -c sukima -n $probe -l threads -d 'Print only how many threads to start'
complete -c sukima -n $probe -l runtimes -d 'Also ask the installed runtimes'
complete -c sukima -n $probe -l steal -d 'Also measure unreported steal time'
complete -c sukima -n $probe -l pairs -d 'Print which CPUs slow each other down'
complete -c sukima -n $probe -x -l root -a '(__fish_complete_directories)' -d 'Answer from a recorded tree'
complete -c sukima -n $probe -x -l record -a '(__fish_complete_directories)' -d 'Also store the files behind the answer'
complete -c sukima -n $probe -x -l at-least -d 'Exit with 3 if there are fewer CPUs'
complete -c sukima -n $probe -l strict -d 'Exit with 4 if there are warnings'
complete -c sukima -n $probe -l watch -d 'Repeat the measurement'
complete -c sukima -n $probe -x -l interval -d 'Seconds between two measurements'
complete -c sukima -n $probe -x -l count -d 'End after this many measurements'
complete -c sukima -n $run -x -l threads -d 'Use this number of threads'
complete -c sukima -n $run -x -l min -d 'Use at least this many threads'
complete -c sukima -n $run -x -l max -d 'Use at most this many threads'
complete -c sukima -n $run -x -l reserve -d 'Leave CPUs to others'
complete -c sukima -n $run -x -l round -a 'floor ceil nearest' -d 'How to round the number of CPUs'
complete -c sukima -n $run -x -l resize -a 'never unless-asked always' -d 'When OpenMP programs change their threads'
complete -c sukima -n $run -l pin -d 'Also pin the program'
complete -c sukima -n $run -l no-preload -d 'Only set variables'
complete -c sukima -n $run -l dry-run -d 'Print the variables'
complete -c sukima -n $run -l report -d 'Report the decisions at the end'
complete -c sukima -n $run -l json -d 'Write the report as one JSON object'
complete -c sukima -n $run -r -F -l output -d 'Write the report to a file'
complete -c sukima -n $cc -F
complete -c sukima -n $cc -x -l backend -d 'The C compiler to use'
complete -c sukima -n $cc -l emit-c -d 'Write the C translation'
complete -c sukima -n $cc -l sequential -d 'Leave out everything parallel'
complete -c sukima -n $cc -l launcher -d 'Start the C compiler through a program, such as ccache' -r
complete -c sukima -n $cc -l no-clones -d 'Leave out sequential clones'
complete -c sukima -n $cc -l cluster -d 'Link the libraries that cluster workers need'
complete -c sukima -n $cc -o fcheck-closures -d 'Stop at calls of closures whose block has been left'
complete -c sukima -n $cc -o fclosures=frame -d 'Closures keep their variables in memory'
complete -c sukima -n $cc -o fclosures=unwind -d 'Closures leave their variables in registers until they are called'
complete -c sukima -n $cc -o fclosures=exceptions -d 'The same, by landing pads'
complete -c sukima -n $explain' && not __sukima_has_program' -F
complete -c sukima -n $explain -l json -d 'Print one JSON object'
complete -c sukima -n $explain -r -F -l html -d 'Also write a page with a timeline'
complete -c sukima -n $explain -r -F -l keep -d 'Keep the trace of the program'
complete -c sukima -n $bench -a 'all (__sukima_listed benchmarks)'
complete -c sukima -n $bench -x -l workers -d 'Numbers of workers'
complete -c sukima -n $bench -x -l peers -a '(__fish_complete_list , __sukima_peers)' -d 'Peers to measure'
complete -c sukima -n $bench -x -l scenario -a '(__fish_complete_list , __sukima_scenarios)' -d 'Scenarios'
complete -c sukima -n $bench -x -l repetitions -d 'Number of rounds'
complete -c sukima -n $bench -x -l size -d 'Problem size'
complete -c sukima -n $bench -x -l compiler -a 'best gcc clang both' -d 'Which program of a system built by two compilers'
complete -c sukima -n $bench -x -l external -d 'Another system, NAME=COMMAND'
complete -c sukima -n $bench -x -l time-limit -d 'Seconds after which a run is killed'
complete -c sukima -n $bench -x -l peer-time -d 'Seconds after which a slow peer is not repeated'
complete -c sukima -n $bench -x -l worst -d 'Fail if a repetition takes over so many times the median'
complete -c sukima -n $bench -x -l nodes -d 'Numbers of nodes of a cluster'
complete -c sukima -n $bench -x -l transport -a 'tcp openmpi mpich' -d 'Transport between the nodes'
complete -c sukima -n $bench -x -l quota -d 'CPUs of each node'
complete -c sukima -n $bench -l hope -d 'Let nodes omit tasks that others have computed'
complete -c sukima -n $bench -x -l seed -d 'Seed of the nodes and moments of kill-K'
complete -c sukima -n $bench -l json -d 'Print one JSON object per line'
complete -c sukima -n $bench -r -F -l csv -d 'Also write comma-separated values'
complete -c sukima -n $bench -r -F -l plot -d 'Also draw PREFIX.png and PREFIX.svg'
complete -c sukima -n $bench -s v -l verbose -d 'Also print paired ratios'
complete -c sukima -n $bench -l list -d 'List benchmarks, systems and scenarios'
