// SPDX-License-Identifier: Apache-2.0
// The explorer gives exactly the outcomes of the memory model: the classic litmus tests, each with all its
// outcomes.
#include "atomics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using sukima::memory::atomic;
using sukima::memory::explore;
using sukima::memory::fence;
using sukima::memory::outcome;
using sukima::memory::plain;
using sukima::memory::program;
using outcomes = std::set<std::string>;

constexpr auto rlx = std::memory_order_relaxed;
constexpr auto acq = std::memory_order_acquire;
constexpr auto rel = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto sc = std::memory_order_seq_cst;

/// The state of the programs: three locations, and the values that the threads have read.
struct world {
  atomic<int> x{0};
  atomic<int> y{0};
  atomic<int> z{0};
  std::string r = "----";
  void set(unsigned i, int value) { r[i] = static_cast<char>('0' + value); }
};

using part = std::function<void(world&)>;

/// All outcomes: the registers, and with `final` the last values of x and y. Each graph must be built once.
outcomes outcomes_of(const std::vector<part>& parts, bool final = false) {
  world w;
  outcomes found;
  program p;
  p.set_up = [&] { w.r = "----"; };
  for (const part& body : parts) p.threads.emplace_back([&w, &body] { body(w); });
  p.at_end = [&] {
    std::string r = w.r.substr(0, w.r.find('-'));
    if (final) r += (r.empty() ? "" : " ") + std::to_string(w.x.load()) + std::to_string(w.y.load());
    found.insert(r);
  };
  const outcome o = explore(p);
  EXPECT_FALSE(o.error) << *o.error;
  EXPECT_EQ(o.cut, 0u);
  return found;
}

outcomes store_buffering(std::memory_order store, std::memory_order load) {
  return outcomes_of({[=](world& w) {
                        w.x.store(1, store);
                        w.set(0, w.y.load(load));
                      },
                      [=](world& w) {
                        w.y.store(1, store);
                        w.set(1, w.x.load(load));
                      }});
}

TEST(litmus, store_buffering) {
  EXPECT_EQ(store_buffering(rlx, rlx), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(store_buffering(rel, acq), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(store_buffering(sc, acq), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(store_buffering(rel, sc), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(store_buffering(sc, sc), (outcomes{"01", "10", "11"}));
}

TEST(litmus, store_buffering_with_fences) {
  const auto with = [](std::memory_order left, std::memory_order right) {
    return outcomes_of({[=](world& w) {
                          w.x.store(1, rlx);
                          fence(left);
                          w.set(0, w.y.load(rlx));
                        },
                        [=](world& w) {
                          w.y.store(1, rlx);
                          fence(right);
                          w.set(1, w.x.load(rlx));
                        }});
  };
  EXPECT_EQ(with(sc, sc), (outcomes{"01", "10", "11"}));
  EXPECT_EQ(with(sc, acq_rel), (outcomes{"00", "01", "10", "11"}));
}

// An exchange of x in both threads orders them, whatever its order: one reads the other.
TEST(litmus, store_buffering_with_exchanges) {
  const auto with = [](std::memory_order order) {
    return outcomes_of({[=](world& w) {
                          w.x.store(1, rlx);
                          w.z.exchange(1, order);
                          w.set(0, w.y.load(rlx));
                        },
                        [=](world& w) {
                          w.y.store(1, rlx);
                          w.z.exchange(2, order);
                          w.set(1, w.x.load(rlx));
                        }});
  };
  EXPECT_EQ(with(acq_rel), (outcomes{"01", "10", "11"}));
  EXPECT_EQ(with(acq), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(with(rel), (outcomes{"00", "01", "10", "11"}));
}

outcomes message_passing(std::memory_order store, std::memory_order load) {
  return outcomes_of({[=](world& w) {
                        w.x.store(1, rlx);
                        w.y.store(1, store);
                      },
                      [=](world& w) {
                        w.set(0, w.y.load(load));
                        w.set(1, w.x.load(rlx));
                      }});
}

TEST(litmus, message_passing) {
  EXPECT_EQ(message_passing(rlx, rlx), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(message_passing(rel, rlx), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(message_passing(rlx, acq), (outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(message_passing(rel, acq), (outcomes{"00", "01", "11"}));
}

TEST(litmus, message_passing_with_fences) {
  const auto found = outcomes_of({[](world& w) {
                                    w.x.store(1, rlx);
                                    fence(rel);
                                    w.y.store(1, rlx);
                                  },
                                  [](world& w) {
                                    w.set(0, w.y.load(rlx));
                                    fence(acq);
                                    w.set(1, w.x.load(rlx));
                                  }});
  EXPECT_EQ(found, (outcomes{"00", "01", "11"}));
}

// RC11 forbids it with every order: program order and reads-from make no cycle.
TEST(litmus, load_buffering) {
  const auto found = outcomes_of({[](world& w) {
                                    w.set(0, w.y.load(rlx));
                                    w.x.store(1, rlx);
                                  },
                                  [](world& w) {
                                    w.set(1, w.x.load(rlx));
                                    w.y.store(1, rlx);
                                  }});
  EXPECT_EQ(found, (outcomes{"00", "01", "10"}));
}

outcomes independent_reads(std::memory_order store, std::memory_order load) {
  return outcomes_of({[=](world& w) { w.x.store(1, store); }, [=](world& w) { w.y.store(1, store); },
                      [=](world& w) {
                        w.set(0, w.x.load(load));
                        w.set(1, w.y.load(load));
                      },
                      [=](world& w) {
                        w.set(2, w.y.load(load));
                        w.set(3, w.x.load(load));
                      }});
}

TEST(litmus, independent_reads_of_independent_writes) {
  outcomes all;
  for (int i = 0; i < 16; ++i)
    all.insert({static_cast<char>('0' + (i >> 3 & 1)), static_cast<char>('0' + (i >> 2 & 1)),
                static_cast<char>('0' + (i >> 1 & 1)), static_cast<char>('0' + (i & 1))});
  EXPECT_EQ(independent_reads(rel, acq), all);
  EXPECT_EQ(independent_reads(sc, acq), all);
  all.erase("1010");
  EXPECT_EQ(independent_reads(sc, sc), all);
}

// Modification orders need not agree with each other.
TEST(litmus, two_writes_each) {
  const auto with = [](std::memory_order order) {
    return outcomes_of({[=](world& w) {
                          w.x.store(1, order);
                          w.y.store(2, order);
                        },
                        [=](world& w) {
                          w.y.store(1, order);
                          w.x.store(2, order);
                        }},
                       true);
  };
  EXPECT_EQ(with(rel), (outcomes{"11", "12", "21", "22"}));
  EXPECT_EQ(with(sc), (outcomes{"12", "21", "22"}));
}

TEST(litmus, coherence) {
  const auto reads = outcomes_of({[](world& w) {
                                    w.x.store(1, rlx);
                                    w.x.store(2, rlx);
                                  },
                                  [](world& w) {
                                    w.set(0, w.x.load(rlx));
                                    w.set(1, w.x.load(rlx));
                                  }});
  EXPECT_EQ(reads, (outcomes{"00", "01", "02", "11", "12", "22"}));
  const auto read_write = outcomes_of({[](world& w) {
                                         w.set(0, w.x.load(rlx));
                                         w.x.store(1, rlx);
                                       },
                                       [](world& w) { w.x.store(2, rlx); }},
                                      true);
  EXPECT_EQ(read_write, (outcomes{"0 10", "0 20", "2 10"}));
  const auto write_read = outcomes_of({[](world& w) {
                                         w.x.store(1, rlx);
                                         w.set(0, w.x.load(rlx));
                                       },
                                       [](world& w) { w.x.store(2, rlx); }},
                                      true);
  EXPECT_EQ(write_read, (outcomes{"1 10", "1 20", "2 20"}));
}

// C++20: a read-modify-write continues a release sequence, a store of the same thread ends it.
TEST(litmus, release_sequences) {
  const auto with = [](const part& middle) {
    return outcomes_of({[](world& w) {
                          w.x.store(1, rlx);
                          w.y.store(1, rel);
                        },
                        middle,
                        [](world& w) {
                          const int y = w.y.load(acq);
                          w.set(0, y);
                          w.set(1, y == 2 ? w.x.load(rlx) : 9);
                        }});
  };
  const auto by_rmw = with([](world& w) {
    int expected = 1;
    w.y.compare_exchange_strong(expected, 2, rlx, rlx);
  });
  EXPECT_EQ(by_rmw, (outcomes{"09", "19", "21"}));
  const auto by_store = with([](world& w) { w.y.store(2, rlx); });
  EXPECT_EQ(by_store, (outcomes{"09", "19", "20", "21"}));
}

TEST(litmus, write_to_read_causality) {
  const auto with = [](std::memory_order store, std::memory_order load) {
    return outcomes_of({[=](world& w) { w.x.store(1, store); },
                        [=](world& w) {
                          w.set(0, w.x.load(load));
                          w.y.store(1, store);
                        },
                        [=](world& w) {
                          w.set(1, w.y.load(load));
                          w.set(2, w.x.load(rlx));
                        }});
  };
  outcomes all{"000", "001", "010", "011", "100", "101", "110", "111"};
  EXPECT_EQ(with(rlx, rlx), all);
  all.erase("110");
  EXPECT_EQ(with(rel, acq), all);
}

// RC11 allows this outcome; an implementation of SC fences by one global order would forbid it. The thread in
// the middle synchronises with no other thread, so the fences are ordered the other way round.
TEST(litmus, fences_at_both_ends) {
  const auto found = outcomes_of({[](world& w) {
                                    w.z.store(1, rlx);
                                    fence(sc);
                                    w.x.store(1, rlx);
                                  },
                                  [](world& w) {
                                    w.set(0, w.x.load(rlx));
                                    w.y.store(1, rlx);
                                  },
                                  [](world& w) {
                                    w.set(1, w.y.load(rlx));
                                    fence(sc);
                                    w.set(2, w.z.load(rlx));
                                  }});
  EXPECT_EQ(found.count("110"), 1u);
}

// W+RWC: SC accesses at both ends order nothing through a thread that only synchronises; fences do.
TEST(litmus, mixed_with_release_and_acquire) {
  const auto with = [](bool fences) {
    return outcomes_of({[=](world& w) {
                          w.x.store(1, rlx);
                          w.y.store(1, rel);
                        },
                        [=](world& w) {
                          w.set(0, w.y.load(acq));
                          if (fences) fence(sc);
                          w.set(1, w.z.load(fences ? rlx : sc));
                        },
                        [=](world& w) {
                          w.z.store(1, fences ? rlx : sc);
                          if (fences) fence(sc);
                          w.set(2, w.x.load(fences ? rlx : sc));
                        }});
  };
  EXPECT_EQ(with(true).count("100"), 0u);
  // The store to x is not SC, and the read of y is only an acquire between it and the SC read of z.
  EXPECT_EQ(with(false).count("100"), 1u);
}

TEST(litmus, increments_are_not_lost) {
  const auto found =
      outcomes_of({[](world& w) { w.x.fetch_add(1, rlx); }, [](world& w) { w.x.fetch_add(1, rlx); },
                   [](world& w) { w.x.fetch_add(1, rlx); }},
                  true);
  EXPECT_EQ(found, outcomes{"30"});
}

TEST(litmus, graphs_are_built_once) {
  world w;
  program p;
  p.threads = {[&] { w.x.fetch_add(1, rlx); }, [&] { w.x.fetch_add(1, rlx); },
               [&] { w.x.fetch_add(1, rlx); }};
  EXPECT_EQ(explore(p).executions, 6u);
  p.threads = {[&] { w.x.store(1, rlx); }, [&] { w.x.load(rlx); }, [&] { w.x.load(rlx); }};
  EXPECT_EQ(explore(p).executions, 4u);
}

}  // namespace
