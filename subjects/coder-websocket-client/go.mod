module wiretrial/subjects/coder-websocket-client

go 1.23.0

require (
	github.com/coder/websocket v1.8.15
	wiretrial/subjects/driver v0.0.0
)

require github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect

replace wiretrial/subjects/driver => ./shared/driver-go
