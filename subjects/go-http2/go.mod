module wiretrial/subjects/go-http2

go 1.24
