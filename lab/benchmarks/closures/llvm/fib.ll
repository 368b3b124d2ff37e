; SPDX-License-Identifier: Apache-2.0
; fib with a closure in each call that sees n and the sum: what a pass inside LLVM could make of it
; (docs/closures-in-llvm.md). Behind each call a stack map says where the two variables are; no instruction is
; emitted for that. @fib_plain is the same function without.
target triple = "x86_64-pc-linux-gnu"

declare void @llvm.experimental.stackmap(i64, i32, ...)
declare void @fib_ask() cold
@closure_wanted = external global i32

define internal fastcc i64 @fib(i32 %n) {
entry:
  %small = icmp slt i32 %n, 2
  br i1 %small, label %leaf, label %inner
leaf:
  %wanted = load i32, ptr @closure_wanted
  %rare = icmp ne i32 %wanted, 0
  br i1 %rare, label %ask, label %done, !prof !0
ask:
  call void @fib_ask()
  br label %done
done:
  %value = sext i32 %n to i64
  ret i64 %value
inner:
  %n1 = add nsw i32 %n, -1
  %sum = call fastcc i64 @fib(i32 %n1)
  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 1, i32 0, i32 %n, i64 0)
  %n2 = add nsw i32 %n, -2
  %rest = call fastcc i64 @fib(i32 %n2)
  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 2, i32 0, i32 %n, i64 %sum)
  %result = add nsw i64 %rest, %sum
  ret i64 %result
}

define i64 @fib_stackmap(i32 %n) {
  %result = call fastcc i64 @fib(i32 %n)
  ret i64 %result
}

define internal fastcc i64 @plain(i32 %n) {
entry:
  %small = icmp slt i32 %n, 2
  br i1 %small, label %leaf, label %inner
leaf:
  %wanted = load i32, ptr @closure_wanted
  %rare = icmp ne i32 %wanted, 0
  br i1 %rare, label %ask, label %done, !prof !0
ask:
  call void @fib_ask()
  br label %done
done:
  %value = sext i32 %n to i64
  ret i64 %value
inner:
  %n1 = add nsw i32 %n, -1
  %sum = call fastcc i64 @plain(i32 %n1)
  %n2 = add nsw i32 %n, -2
  %rest = call fastcc i64 @plain(i32 %n2)
  %result = add nsw i64 %rest, %sum
  ret i64 %result
}

define i64 @fib_plain(i32 %n) {
  %result = call fastcc i64 @plain(i32 %n)
  ret i64 %result
}

!0 = !{!"branch_weights", i32 1, i32 2000}
