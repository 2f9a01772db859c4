module wiretrial/examples/catalogue

go 1.22
