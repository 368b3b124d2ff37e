// SPDX-License-Identifier: Apache-2.0

// bench-go: concurrent objects as goroutines over buffered channels. The contract is in lab/benchmarks/README.md.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// CMake puts lab/benchmarks/kernels/sizes.json here.
//
//go:embed sizes.json
var sizesText []byte

type size struct {
	Default int64
	Results map[string]string
}

type options struct {
	name        string
	size        int64
	workers     int64
	repetitions int64
	started     bool
	list        bool
}

func refuse(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "bench-go: "+format+"\n", arguments...)
	os.Exit(2)
}

func parse(arguments []string) options {
	o := options{size: -1, workers: 1, repetitions: 1}
	number := func(i int, least int64, most int64) int64 {
		if i+1 >= len(arguments) {
			refuse("%s needs a number", arguments[i])
		}
		n, err := strconv.ParseInt(arguments[i+1], 10, 64)
		if err != nil || n < least || n > most {
			refuse("%s must be a number from %d to %d", arguments[i], least, most)
		}
		return n
	}
	for i := 0; i < len(arguments); i++ {
		switch arguments[i] {
		case "--size":
			o.size = number(i, 0, 1<<40)
			i++
		case "--workers":
			o.workers = number(i, 1, 4096)
			i++
		case "--repetitions":
			o.repetitions = number(i, 1, 1000000)
			i++
		case "--depth":
			refuse("%s has no tuned program: leave --depth out", o.name)
		case "--started":
			o.started = true
		case "--list":
			o.list = true
		case "--help":
			fmt.Println("bench-go NAME [--size N] [--workers W] [--repetitions R] [--started], or bench-go --list")
			os.Exit(0)
		default:
			if len(arguments[i]) > 0 && arguments[i][0] == '-' || o.name != "" {
				refuse("unknown argument '%s'; --help shows the options", arguments[i])
			}
			o.name = arguments[i]
		}
	}
	return o
}

func names() []string {
	all := make([]string, 0, len(benchmarks))
	for name := range benchmarks {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

func cpuSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		refuse("getrusage: %v", err)
	}
	return float64(used.Utime.Sec+used.Stime.Sec) + float64(used.Utime.Usec+used.Stime.Usec)*1e-6
}

// Seconds of the monotonic clock, which all processes share.
func monotonicSeconds() float64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return float64(now.Sec) + float64(now.Nsec)*1e-9
}

func main() {
	o := parse(os.Args[1:])
	if o.list {
		for _, name := range names() {
			fmt.Println(name)
		}
		return
	}
	measured, isKnown := benchmarks[o.name]
	if !isKnown {
		refuse("unknown benchmark '%s'; known are: %v", o.name, names())
	}
	known := map[string]size{}
	if err := json.Unmarshal(sizesText, &known); err != nil {
		refuse("sizes.json: %v", err)
	}
	if o.size < 0 {
		o.size = known[o.name].Default
	}
	if o.size < 1 || o.size > 1000000000 {
		refuse("%s: size %d is out of range: use --size 1 to 1000000000", o.name, o.size)
	}
	runtime.GOMAXPROCS(int(o.workers))
	measured(1000)
	for i := int64(0); i < o.repetitions; i++ {
		began := monotonicSeconds()
		cpu := cpuSeconds()
		start := time.Now()
		result := strconv.FormatInt(measured(o.size), 10)
		seconds := time.Since(start).Seconds() / float64(o.size)
		cpu = cpuSeconds() - cpu
		expected, isChecked := known[o.name].Results[strconv.FormatInt(o.size, 10)]
		if isChecked && expected != result {
			fmt.Fprintf(os.Stderr, "bench-go: %s: wrong result %s, expected %s for size %d\n", o.name, result, expected, o.size)
			os.Exit(1)
		}
		more := ""
		if o.started {
			more = fmt.Sprintf(",\"started\":%.9f", began)
		}
		fmt.Printf("{\"benchmark\":\"%s\",\"size\":%d,\"seconds\":%.6g,\"cpu_seconds\":%.6g,\"result\":\"%s\"%s}\n",
			o.name, o.size, seconds, cpu, result, more)
	}
}
