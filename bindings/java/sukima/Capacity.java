// SPDX-License-Identifier: Apache-2.0
package sukima;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.ForkJoinPool;

/**
 * How many CPUs this process may use: the smallest of its affinity mask, its cpuset, and the CPU quotas of its control group
 * and of all visible groups above. SUKIMA_CPUS in the environment overrides them all; each method throws
 * IllegalStateException with a sentence if that is not a number of CPUs.
 */
public final class Capacity {
  private static final String PARALLELISM = "java.util.concurrent.ForkJoinPool.common.parallelism";

  static {
    load();
  }

  private Capacity() {}

  /** CPU time a second that this process may use, in CPUs: a fraction such as 1.5 under a quota. Takes about 0.1 ms. */
  public static native double usableCpus();

  /** The sentence that explains usableCpus(), with the file that it comes from. */
  public static native String reason();

  /** CPUs that neighbours and the hypervisor leave to this process now. Measures so many seconds; 0.5 is good. */
  public static native double freeCpus(double seconds);

  /** A number of CPUs, such as freeCpus(), as a number of threads: rounded up, at least one. */
  public static native int threadsFor(double cpus);

  /** How many threads to start: usableCpus(), rounded up, so that all of a quota is used. */
  public static int threads() {
    return threadsFor(usableCpus());
  }

  /**
   * Gives the common pool, which parallel streams use, one thread less than threads() but at least one: the calling thread
   * computes, too. Call it before the first use of the pool. A property that the user has set wins.
   *
   * @return the number of threads that the pool has now
   */
  public static int sizeCommonPool() {
    if (System.getProperty(PARALLELISM) == null) {
      System.setProperty(PARALLELISM, Integer.toString(Math.max(1, threads() - 1)));
    }
    return ForkJoinPool.getCommonPoolParallelism();
  }

  /** Loads the library, which this class's archive holds for each architecture, through a temporary file. */
  private static void load() {
    String name = "/native/" + System.getProperty("os.arch") + "/libsukima-capacity-jni.so";
    try (InputStream library = Capacity.class.getResourceAsStream(name)) {
      if (library == null) {
        throw new UnsatisfiedLinkError("sukima: the archive has no " + name + "; build it on this architecture");
      }
      Path file = Files.createTempFile("sukima-capacity-", ".so");
      try {
        Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
        System.load(file.toString());
      } finally {
        Files.delete(file);
      }
    } catch (IOException error) {
      throw new UncheckedIOException("sukima: the library cannot be unpacked", error);
    }
  }
}
