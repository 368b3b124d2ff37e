module sukima.local/capacity

go 1.19
