// SPDX-License-Identifier: Apache-2.0

// Package capacity answers how many CPUs this process may use: the smallest of its affinity mask, its cpuset, and the CPU
// quotas of its control group and of all visible groups above. SUKIMA_CPUS in the environment overrides them all.
//
// It calls the C library <sukima/capacity.h> through cgo, and links it statically.
package capacity

// #cgo pkg-config: sukima-capacity
// #cgo LDFLAGS: -Wl,--as-needed -l:libsukima-capacity.a
// #include <sukima/capacity.h>
import "C"

import (
	"errors"
	"syscall"
	"time"
	"unsafe"
)

// read returns the usable CPUs and the sentence that explains them.
func read() (usable float64, reason string, err error) {
	report := C.sukima_capacity_explain(nil)
	if report == nil {
		return 0, "", syscall.ENOMEM
	}
	defer C.sukima_capacity_report_free(report)
	if report.error != nil {
		return 0, "", errors.New(C.GoString(report.error))
	}
	for _, limit := range unsafe.Slice(report.limits, int(report.limit_count)) {
		if limit.is_binding != 0 {
			reason = C.GoString(limit.text) + " (" + C.GoString(limit.file) + ")"
		}
	}
	return float64(report.facts.usable), reason, nil
}

// UsableCPUs returns the CPU time a second that this process may use, in CPUs: a fraction such as 1.5 under a quota. It
// takes about 0.1 ms. The error is a sentence about a malformed SUKIMA_CPUS.
func UsableCPUs() (float64, error) {
	usable, _, err := read()
	return usable, err
}

// Reason returns the sentence that explains UsableCPUs, with the file that it comes from.
func Reason() (string, error) {
	_, reason, err := read()
	return reason, err
}

// Threads returns UsableCPUs rounded up, so that all of a quota is used.
func Threads() (int, error) {
	usable, err := UsableCPUs()
	if err != nil {
		return 0, err
	}
	return ThreadsFor(usable), nil
}

// FreeCPUs returns the CPUs that the neighbours and the hypervisor leave to this process now. It measures for that long;
// half a second is good.
func FreeCPUs(duration time.Duration) (float64, error) {
	var estimate C.sukima_capacity_estimate
	if code := C.sukima_capacity_estimate_once(nil, 0, C.double(duration.Seconds()), &estimate); code != 0 {
		if _, err := UsableCPUs(); err != nil {
			return 0, err
		}
		return 0, syscall.Errno(code)
	}
	return float64(estimate.usable), nil
}

// ThreadsFor returns a number of CPUs, such as FreeCPUs, as a number of threads: rounded up, at least one.
func ThreadsFor(cpus float64) int {
	return int(C.sukima_capacity_threads(C.double(cpus), nil))
}
