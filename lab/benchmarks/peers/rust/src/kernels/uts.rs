// SPDX-License-Identifier: Apache-2.0
//! Unbalanced tree search, as lab/benchmarks/kernels/uts.hpp and sha1.hpp.

type Digest = [u32; 5];

const START: Digest = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

/// The SHA-1 digest of a message of N ≤ 13 words.
fn sha1<const N: usize>(message: [u32; N]) -> Digest {
    let mut w = [0u32; 16];
    w[..N].copy_from_slice(&message);
    w[N] = 0x8000_0000;
    w[15] = 32 * N as u32;
    let [mut a, mut b, mut c, mut d, mut e] = START;
    macro_rules! rounds {
        ($($t:literal)*, $f:expr, $k:literal) => {$(
            if $t >= 16 {
                w[$t % 16] = (w[($t + 13) % 16] ^ w[($t + 8) % 16] ^ w[($t + 2) % 16] ^ w[$t % 16]).rotate_left(1);
            }
            let f: fn(u32, u32, u32) -> u32 = $f;
            let next =
                a.rotate_left(5).wrapping_add(f(b, c, d)).wrapping_add(e).wrapping_add($k).wrapping_add(w[$t % 16]);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        )*};
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19, |b, c, d| ((c ^ d) & b) ^ d, 0x5a82_7999);
    rounds!(20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39, |b, c, d| b ^ c ^ d, 0x6ed9_eba1);
    rounds!(40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59,
            |b, c, d| ((b | c) & d) | (b & c), 0x8f1b_bcdc);
    rounds!(60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79, |b, c, d| b ^ c ^ d, 0xca62_c1d6);
    [
        START[0].wrapping_add(a),
        START[1].wrapping_add(b),
        START[2].wrapping_add(c),
        START[3].wrapping_add(d),
        START[4].wrapping_add(e),
    ]
}

#[derive(PartialEq)]
enum Shape {
    Binomial { probability: f64, degree: i32 },
    Linear,
    Cyclic,
    Fixed,
}

pub struct Tree {
    shape: Shape,
    root_degree: f64,
    depth: i32,
    seed: u32,
}

pub const SIZES: &str =
    "no such tree: use --size 1, 2, 3 or 5 (T1, T2, T3, T5), 11 or 13 (T1L, T3L), 101 or 103 (small ones)";

pub fn published_tree(number: i64) -> Option<Tree> {
    let geometric = |shape, root_degree, depth, seed| Some(Tree { shape, root_degree, depth, seed });
    let binomial = |root_degree, probability, degree, seed| {
        Some(Tree { shape: Shape::Binomial { probability, degree }, root_degree, depth: 0, seed })
    };
    match number {
        1 => geometric(Shape::Fixed, 4.0, 10, 19),
        2 => geometric(Shape::Cyclic, 6.0, 16, 502),
        3 => binomial(2000.0, 0.124875, 8, 42),
        5 => geometric(Shape::Linear, 4.0, 20, 34),
        11 => geometric(Shape::Fixed, 4.0, 13, 29),
        13 => binomial(2000.0, 0.200014, 5, 7),
        101 => geometric(Shape::Fixed, 4.0, 5, 19),
        103 => binomial(200.0, 0.124, 8, 42),
        _ => None,
    }
}

pub struct Node {
    state: Digest,
    pub height: i32,
}

impl Node {
    pub fn root(tree: &Tree) -> Self {
        Self { state: sha1([0, 0, 0, 0, tree.seed]), height: 0 }
    }

    pub fn child(&self, i: i32) -> Self {
        let s = self.state;
        Self { state: sha1([s[0], s[1], s[2], s[3], s[4], i as u32]), height: self.height + 1 }
    }

    pub fn children(&self, tree: &Tree) -> i32 {
        let random = f64::from(self.state[4] & 0x7fff_ffff) / 2147483648.0;
        let (height, depth) = (f64::from(self.height), f64::from(tree.depth));
        let expected = match tree.shape {
            Shape::Binomial { .. } if self.height == 0 => return tree.root_degree as i32,
            Shape::Binomial { probability, degree } => return if random < probability { degree } else { 0 },
            Shape::Fixed if self.height < tree.depth => tree.root_degree,
            Shape::Fixed => 0.0,
            Shape::Linear => tree.root_degree * (1.0 - height / depth),
            Shape::Cyclic if self.height > 5 * tree.depth => 0.0,
            Shape::Cyclic if self.height > 0 => {
                tree.root_degree.powf((2.0 * std::f64::consts::PI * height / depth).sin())
            }
            Shape::Cyclic => tree.root_degree,
        };
        let p = 1.0 / (1.0 + expected);
        let children = ((1.0 - random).ln() / (1.0 - p).ln()).floor() as i32;
        children.min(100)
    }
}
