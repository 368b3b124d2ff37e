// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Random delays at the steps of the protocol, for tests. The system property sukima.delays is their seed. */
final class Delays {
    private static final Integer SEED = Integer.getInteger("sukima.delays");
    private static final ThreadLocal<Random> RANDOM = ThreadLocal.withInitial(
        () -> new Random(SEED + Thread.currentThread().getName().hashCode()));

    private Delays() {}

    static boolean areOn() {
        return SEED != null;
    }

    static void step() {
        if (SEED == null) {
            return;
        }
        int kind = RANDOM.get().nextInt(8);
        if (kind == 0) {
            LockSupport.parkNanos(RANDOM.get().nextInt(50_000));
        } else if (kind < 4) {
            Thread.yield();
        }
    }
}
