// SPDX-License-Identifier: Apache-2.0
'use strict';
const native = require('./capacity.node');

/** CPU time a second that this process may use, in CPUs: a fraction such as 1.5 under a quota. Takes about 0.1 ms. */
const usableCpus = () => native.usableCpus();

/** The sentence that explains usableCpus(), with the file that it comes from. */
const reason = () => native.reason();

/** A number of CPUs, such as freeCpus(), as a number of threads: rounded up, at least one. */
const threadsFor = (cpus) => native.threadsFor(cpus);

/** How many threads or processes to start: usableCpus(), rounded up, so that all of a quota is used. */
const threads = () => threadsFor(usableCpus());

/** A promise of the CPUs that neighbours and the hypervisor leave now. Measures so many seconds in libuv's pool. */
const freeCpus = (seconds = 0.5) => native.freeCpus(seconds);

module.exports = { usableCpus, reason, threadsFor, threads, freeCpus };
