// SPDX-License-Identifier: Apache-2.0
// A program that reports its progress, so that the host of its virtual machine finds the best number of
// its threads: sukima_progress_add() after each row.
#include <stdio.h>
#include <sukima/capacity/progress.h>

enum { rows = 200, columns = 300 };

static int inside[rows];

// How many points of a row belong to the Mandelbrot set.
static void render(int row) {
  const double y = 2.0 * row / (int)rows - 1;
  for (int column = 0; column < columns; column++) {
    const double x = 3.0 * column / (int)columns - 2;
    double a = 0, b = 0;
    int steps = 0;
    for (; steps < 100 && a * a + b * b < 4; steps++) {
      const double next = a * a - b * b + x;
      b = 2 * a * b + y;
      a = next;
    }
    inside[row] += steps == 100;
  }
}

int main(void) {
  for (int row = 0; row < rows; row++) {
    render(row);
    sukima_progress_add(1);
  }
  int sum = 0;
  for (int row = 0; row < rows; row++) sum += inside[row];
  printf("%d of %d points\n", sum, rows * columns);
  return 0;
}
