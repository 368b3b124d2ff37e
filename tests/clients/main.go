// SPDX-License-Identifier: Apache-2.0
// A Go program for the tests of `sukima run`.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

func main() {
	var group sync.WaitGroup
	sums := make([]int64, 8)
	for part := range sums {
		group.Add(1)
		go func(part int) {
			defer group.Done()
			for i := part + 1; i <= 1000000; i += len(sums) {
				sums[part] += int64(i)
			}
		}(part)
	}
	group.Wait()
	var sum int64
	for _, partial := range sums {
		sum += partial
	}
	fmt.Printf("threads %d\nresult %d\n", runtime.GOMAXPROCS(0), sum)
}
