module wiretrial/subjects/push

go 1.24.0
