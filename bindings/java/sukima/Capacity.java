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
 * The number of CPUs that this process may use: the smallest of its affinity mask, its cpuset, and the CPU quotas of its
 * control group and of all visible groups above. SUKIMA_CPUS in the environment overrides them all. Each method throws
 * IllegalStateException with a sentence if SUKIMA_CPUS is not a number of CPUs.
 */
public final class Capacity {
  private static final String PARALLELISM = "java.util.concurrent.ForkJoinPool.common.parallelism";

  static {
    load();
  }

  private Capacity() {}

  /**
   * Returns the CPU time per second that this process may use, in CPUs: under a quota a fraction such as 1.5. Takes about
   * 0.1 ms.
   */
  public static native double usableCpus();

  /** Returns the sentence that explains usableCpus(), with the file from which the number comes. */
  public static native String reason();

  /**
   * Returns the CPUs that neighbours and the hypervisor now leave to this process. Measures for this number of seconds; 0.5
   * is good.
   */
  public static native double freeCpus(double seconds);

  /** Converts a number of CPUs, such as freeCpus(), to a number of threads: rounded up, at least one. */
  public static native int threadsFor(double cpus);

  /** Returns the number of threads to start: usableCpus(), rounded up, so that all of a quota is used. */
  public static int threads() {
    return threadsFor(usableCpus());
  }

  /**
   * Gives the common pool, which parallel streams use, one thread less than threads() but at least one, because the calling
   * thread also computes. Call it before the first use of the pool. A property that the user has set takes precedence.
   *
   * @return the number of threads that the pool has now
   */
  public static int sizeCommonPool() {
    if (System.getProperty(PARALLELISM) == null) {
      System.setProperty(PARALLELISM, Integer.toString(Math.max(1, threads() - 1)));
    }
    return ForkJoinPool.getCommonPoolParallelism();
  }

  /** Loads the library through a temporary file. The archive of this class contains it for each architecture. */
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
