module wiretrial/subjects/go-push

go 1.24.0

require (
	github.com/gorilla/websocket v1.5.3
	wiretrial/subjects/push v0.0.0
)

replace wiretrial/subjects/push => ./shared/push-go
