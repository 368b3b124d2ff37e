// SPDX-License-Identifier: Apache-2.0
//! Exact cover by dancing links, and Langford's problem as such a cover, as lab/benchmarks/kernels/cover.hpp.

/// Of a node, or the number of an item (from 1).
pub type Place = i16;

/// The most options that an item can have.
pub const MOST_OPTIONS: usize = 64;
const MOST_DEPTH: usize = 32;

#[derive(Clone, Copy)]
struct Header {
    left: Place,
    right: Place,
    /// Possible options.
    size: Place,
}

#[derive(Clone, Copy)]
struct Node {
    up: Place,
    down: Place,
    /// 0: a spacer, whose `up` is the first node of the option before it, `down` the last after it.
    item: Place,
}

/// The state of a search for exact covers: the items that are not covered yet, and the options that are still possible.
/// `begin` chooses the first item to branch on; each `choose` goes one level deeper.
#[derive(Clone)]
pub struct ExactCover {
    headers: Vec<Header>,
    nodes: Vec<Node>,
    /// The items branched on; 0 if nothing was left.
    branched: [Place; MOST_DEPTH],
    depth: usize,
}

impl ExactCover {
    /// A cover of that many items, with no options yet.
    fn new(items: Place) -> Self {
        let headers = (0..=items)
            .map(|i| Header {
                left: if i == 0 { items } else { i - 1 },
                right: if i == items { 0 } else { i + 1 },
                size: 0,
            })
            .collect();
        let mut nodes: Vec<Node> = (0..=items).map(|i| Node { up: i, down: i, item: i }).collect();
        nodes.push(Node { up: 0, down: 0, item: 0 }); // a spacer before the first option
        Self { headers, nodes, branched: [0; MOST_DEPTH], depth: 0 }
    }

    /// Adds an option with these different items. Not after `begin`.
    fn add_option(&mut self, items: [Place; 3]) {
        let first = self.nodes.len() as Place;
        for item in items {
            let here = self.nodes.len() as Place;
            let last = self.nodes[item as usize].up;
            self.nodes.push(Node { up: last, down: item, item });
            self.nodes[last as usize].down = here;
            self.nodes[item as usize].up = here;
            self.headers[item as usize].size += 1;
        }
        // A spacer knows the option's last node, and the next one its first.
        self.nodes[first as usize - 1].down = (self.nodes.len() - 1) as Place;
        self.nodes.push(Node { up: first, down: 0, item: 0 });
    }

    /// Chooses the item to branch on first. False if some item has no option.
    pub fn begin(&mut self) -> bool {
        self.branch()
    }

    /// Whether everything is covered.
    pub fn complete(&self) -> bool {
        self.item() == 0
    }

    /// The possible options of the item to branch on, as nodes in its list: first_option, then next_option until that
    /// returns 0.
    pub fn first_option(&self) -> Place {
        self.next_option(self.item())
    }

    pub fn next_option(&self, option: Place) -> Place {
        let next = self.nodes[option as usize].down;
        if next == self.item() {
            0
        } else {
            next
        }
    }

    /// Takes that option of the item to branch on, and chooses the next item, one that has the fewest options. Returns
    /// false, with nothing changed, if that leaves an item without an option.
    pub fn choose(&mut self, option: Place) -> bool {
        let mut p = self.after(option);
        while p != option {
            self.cover(self.nodes[p as usize].item);
            p = self.after(p);
        }
        if self.branch() {
            return true;
        }
        self.uncover_others(option);
        false
    }

    /// Takes back the last successful `choose`, which was of that option.
    pub fn take_back(&mut self, option: Place) {
        let last = self.item();
        if last != 0 {
            self.uncover(last);
        }
        self.depth -= 1;
        self.uncover_others(option);
    }

    fn item(&self) -> Place {
        self.branched[self.depth - 1]
    }

    // The neighbours of a node within its option, around the end.
    fn after(&self, p: Place) -> Place {
        let next = self.nodes[p as usize + 1];
        if next.item == 0 {
            next.up
        } else {
            p + 1
        }
    }

    fn before(&self, p: Place) -> Place {
        let next = self.nodes[p as usize - 1];
        if next.item == 0 {
            next.down
        } else {
            p - 1
        }
    }

    fn branch(&mut self) -> bool {
        let (mut best, mut fewest) = (0, MOST_OPTIONS as Place + 1);
        let mut i = self.headers[0].right;
        while i != 0 {
            let header = self.headers[i as usize];
            if header.size < fewest {
                best = i;
                fewest = header.size;
                if fewest == 0 {
                    return false;
                }
            }
            i = header.right;
        }
        self.branched[self.depth] = best;
        self.depth += 1;
        if best != 0 {
            self.cover(best);
        }
        true
    }

    fn uncover_others(&mut self, option: Place) {
        let mut p = self.before(option);
        while p != option {
            self.uncover(self.nodes[p as usize].item);
            p = self.before(p);
        }
    }

    fn cover(&mut self, covered: Place) {
        let h = self.headers[covered as usize];
        self.headers[h.left as usize].right = h.right;
        self.headers[h.right as usize].left = h.left;
        let mut row = self.nodes[covered as usize].down;
        while row != covered {
            let mut p = self.after(row);
            while p != row {
                let n = self.nodes[p as usize];
                self.nodes[n.up as usize].down = n.down;
                self.nodes[n.down as usize].up = n.up;
                self.headers[n.item as usize].size -= 1;
                p = self.after(p);
            }
            row = self.nodes[row as usize].down;
        }
    }

    // The reverse of cover, in reverse order.
    fn uncover(&mut self, covered: Place) {
        let mut row = self.nodes[covered as usize].up;
        while row != covered {
            let mut p = self.before(row);
            while p != row {
                let n = self.nodes[p as usize];
                self.nodes[n.up as usize].down = p;
                self.nodes[n.down as usize].up = p;
                self.headers[n.item as usize].size += 1;
                p = self.before(p);
            }
            row = self.nodes[row as usize].up;
        }
        let h = self.headers[covered as usize];
        self.headers[h.left as usize].right = covered;
        self.headers[h.right as usize].left = covered;
    }
}

/// The possible options of the item to branch on as an array, which parallel programs need.
pub struct PossibleOptions {
    option: [Place; MOST_OPTIONS],
    count: usize,
}

impl PossibleOptions {
    pub fn new(state: &ExactCover) -> Self {
        let mut all = Self { option: [0; MOST_OPTIONS], count: 0 };
        let mut p = state.first_option();
        while p != 0 {
            all.option[all.count] = p;
            all.count += 1;
            p = state.next_option(p);
        }
        all
    }

    pub fn all(&self) -> &[Place] {
        &self.option[..self.count]
    }
}

/// Sizes of Langford's problem that the types above have room for.
pub const MOST_LANGFORD: i64 = 20;

/// Langford's problem: the numbers 1 to n twice each in a row of 2n places, with i others between the two i. Of each
/// arrangement and its reverse one is left: the number n (n - 1 if n is even) comes first in the first half.
pub fn langford(n: i32) -> ExactCover {
    let n = n as Place;
    let mut cover = ExactCover::new(3 * n);
    let halved = if n % 2 == 0 { n - 1 } else { n };
    for number in 1..=n {
        for left in 1..=2 * n {
            if left + number < 2 * n && (number != halved || 2 * left <= n) {
                cover.add_option([number, n + left, n + left + number + 1]);
            }
        }
    }
    cover
}
