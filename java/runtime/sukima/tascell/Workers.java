// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import sukima.closures.Frame;

/** Runs tasks on several threads. */
public final class Workers {
    private static final String COUNT = "SUKIMA_WORKERS";
    private static final int MOST = 1024; // as in C and C++, which read the same variable

    private Workers() {}

    /** Runs the task with {@link #count()} workers. */
    public static <R> R run(Task<R> task) {
        return run(count(), task);
    }

    /**
     * Runs the task with this number of workers, 1 to 1024. It starts on one of them, and idle workers take parts of it.
     * Returns the result, or throws the task's exception, after no worker runs a part of it any more.
     */
    public static <R> R run(int workers, Task<R> task) {
        if (workers < 1 || workers > MOST) {
            throw new IllegalArgumentException(
                "a computation cannot have " + workers + " workers: give a number from 1 to " + MOST);
        }
        Objects.requireNonNull(task, "Workers.run received null instead of a task");
        Job root = new Computation(workers).run(task);
        if (root.failure != null) {
            throw Frame.rethrow$(root.failure);
        }
        @SuppressWarnings("unchecked")
        R result = (R) root.result;
        return result;
    }

    /**
     * Returns the number of CPUs that this process may use, at most 1024. It is the environment's SUKIMA_WORKERS; otherwise
     * the number of Sukima's capacity library if its archive is on the class path; otherwise the number that the Java
     * virtual machine reports. Throws IllegalArgumentException or IllegalStateException if the environment has no number
     * there.
     */
    public static int count() {
        String given = System.getenv(COUNT);
        if (given != null) {
            return parsed(given);
        }
        try {
            return Math.min(MOST, (Integer) Class.forName("sukima.Capacity").getMethod("threads").invoke(null));
        } catch (InvocationTargetException e) {
            throw Frame.rethrow$(e.getCause()); // the library's sentence, such as that SUKIMA_CPUS is not a number
        } catch (ReflectiveOperationException | LinkageError e) {
            return Math.min(MOST, Runtime.getRuntime().availableProcessors());
        }
    }

    private static int parsed(String given) {
        try {
            int count = Integer.parseInt(given);
            if (count > 0 && count <= MOST) {
                return count;
            }
        } catch (NumberFormatException e) {
            // The message below covers this case.
        }
        throw new IllegalArgumentException(COUNT + " is \"" + given + "\": set it to a number of workers, 1 to " + MOST);
    }
}
