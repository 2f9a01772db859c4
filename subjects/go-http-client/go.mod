module wiretrial/subjects/go-http-client

go 1.24.0

require wiretrial/subjects/driver v0.0.0

require github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect

replace wiretrial/subjects/driver => ./shared/driver-go
