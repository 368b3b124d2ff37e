// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

const (
	senders    = 8
	ringLength = 1000
)

func pingPong(n int64) int64 {
	there, back := make(chan int64, 1), make(chan int64, 1)
	go func() {
		for m := range there {
			back <- m + 1
		}
		close(back)
	}()
	sum := int64(0)
	for i := int64(0); i < n; i++ {
		there <- i
		sum += <-back
	}
	close(there)
	<-back
	return sum
}

func sumOf(numbers <-chan int64) int64 {
	sum := int64(0)
	for m := range numbers {
		sum += m
	}
	return sum
}

func stream(n int64) int64 {
	numbers := make(chan int64, 64)
	go func() {
		for i := int64(0); i < n; i++ {
			numbers <- i
		}
		close(numbers)
	}()
	return sumOf(numbers)
}

func fanIn(n int64) int64 {
	numbers := make(chan int64, 64)
	var sources sync.WaitGroup
	for k := int64(0); k < senders; k++ {
		sources.Add(1)
		go func(first int64) {
			defer sources.Done()
			for i := first; i < n; i += senders {
				numbers <- i
			}
		}(k)
	}
	go func() {
		sources.Wait()
		close(numbers)
	}()
	return sumOf(numbers)
}

func ring(n int64) int64 {
	links := make([]chan int64, ringLength)
	for i := range links {
		links[i] = make(chan int64, 1)
	}
	last := int64(0)
	var all sync.WaitGroup
	for i := range links {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			from, to := links[i], links[(i+1)%ringLength]
			defer close(to)
			if i == 0 {
				to <- n - 1
			}
			for left := range from {
				if left == 0 {
					last = int64(i)
					return
				}
				to <- left - 1
			}
		}(i)
	}
	all.Wait()
	return last
}

var benchmarks = map[string]func(n int64) int64{
	"objects-ping-pong": pingPong,
	"objects-stream":    stream,
	"objects-fan-in":    fanIn,
	"objects-ring":      ring,
}
