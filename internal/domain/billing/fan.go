package billing

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/base/task"
)

// callers is how many calls of one batch are under way at once.
const callers = 4

// fan does something for each of n, several at once, and returns when all is
// done. With a single caller it is done in order and by whoever asked.
func (s *Service) fan(ctx context.Context, n int, do func(i int)) {
	if s.OneCaller {
		for i := range n {
			do(i)
		}
		return
	}
	var over atomic.Int64
	g := errgroup.Group{}
	g.SetLimit(callers)
	for i := range n {
		g.Go(func() error {
			do(i)
			if int(over.Add(1)) > n-callers { // nothing is left to begin
				task.Done(ctx)
			}
			return nil
		})
	}
	_ = g.Wait() // what is done reports in its own way
}
