module wiretrial/subjects/gws

go 1.23

require github.com/lxzan/gws v1.9.1

require github.com/klauspost/compress v1.17.9 // indirect
