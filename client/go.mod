module github.com/perennialhq/perennial/client

go 1.26.0
