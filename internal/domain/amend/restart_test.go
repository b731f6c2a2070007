package amend_test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// A request to restart a contract makes one, although the process that carried it out
// first died before it noted which contract it was.
func TestAContractIsRestartedOnceByARequestThatComesAgain(t *testing.T) {
	t.Parallel()
	w := begin(t)
	_, err := w.amend.SetStatus(t.Context(), w.of.ID, w.command(), amend.StatusChange{To: contract.Cancelled})
	w.must(err)
	before := len(w.contracts())
	w.amend.Creations = &forgetful{Creations: w.db, dies: 2}
	restart := func() (contract.Detail, error) {
		return w.amend.Restart(t.Context(), w.of.ID, w.command(), amend.RestartParams{NextBillingDate: w.at.Now().AddDate(0, 0, 10), RequestKey: "erp 2"})
	}
	if _, err := restart(); err == nil {
		t.Fatal("the process did not die")
	}
	for range 2 {
		w.at.Set(w.at.Now().Add(time.Hour))
		made, err := restart()
		w.must(err)
		if made.SplitFrom != w.ours || made.Status != contract.Active || len(made.Attributes) != len(w.contracts()[int64(w.ours)].Attributes) {
			t.Errorf("restarted from %d: %s with the attributes %v", made.SplitFrom, made.Status, made.Attributes)
		}
	}
	if made := len(w.contracts()) - before; made != 1 {
		t.Errorf("%d contracts were made", made)
	}
}
