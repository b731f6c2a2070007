package moving

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Query says which contracts are listed.
type Query struct {
	Line  shop.Line
	Page  int       // from 0
	Since time.Time // only those that changed since then; zero: all
}

// Page is a page of a list of contracts.
type Page struct {
	Found []int64
	Total int // as the service says
	More  bool
}
