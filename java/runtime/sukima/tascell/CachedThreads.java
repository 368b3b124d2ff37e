// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of all workers. A thread whose computation has ended waits a second for the next one, because starting a
 * thread takes longer.
 */
final class CachedThreads {
    private static final long STACK_BYTES = 256L << 20; // address space; the system provides memory as the stack grows
    private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS,
        new SynchronousQueue<>(), CachedThreads::thread);

    private CachedThreads() {}

    private static Thread thread(Runnable body) {
        Thread thread = new Thread(null, body, "sukima-worker", STACK_BYTES, false);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Runs the body on a thread of its own, with that name and the caller's class loader. Throws OutOfMemoryError if no
     * thread is free and the system refuses to start one.
     */
    static void run(String name, Runnable body) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        THREADS.execute(() -> {
            Thread own = Thread.currentThread();
            own.setName(name);
            own.setContextClassLoader(loader);
            try {
                body.run();
            } finally {
                own.setContextClassLoader(null); // a waiting thread must not keep classes alive
            }
        });
    }
}
