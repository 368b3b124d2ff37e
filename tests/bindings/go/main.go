// A user's program. With an argument it waits until GOMAXPROCS is that number.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"sukima.local/capacity"
	_ "sukima.local/capacity/maxprocs"
)

func main() {
	usable, err := capacity.UsableCPUs()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	threads, _ := capacity.Threads()
	free, _ := capacity.FreeCPUs(250 * time.Millisecond)
	reason, _ := capacity.Reason()
	fmt.Printf("usable %v\nthreads %d\npool %d\nfree %v\nreason %s\n", usable, threads, runtime.GOMAXPROCS(0), free, reason)
	if len(os.Args) > 1 {
		wanted, _ := strconv.Atoi(os.Args[1])
		for runtime.GOMAXPROCS(0) != wanted {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Printf("changed %d\n", wanted)
	}
}
