package amend

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestNextCycleOfNewContractIsFirst(t *testing.T) {
	t.Parallel()
	if got := NextCycle(contract.Contract{}, nil, time.Now()); got != 1 {
		t.Errorf("it is that of cycle %d", got)
	}
}
