module sukima.dev/bench-go

go 1.19
