package platform

import "testing"

func TestWorkOnManyContractsIsServedLastThoughServicesAskAsForPerson(t *testing.T) {
	t.Parallel()
	if got := PriorityOf(Interactive(t.Context())); got != ForPerson {
		t.Errorf("a person has priority %d", got)
	}
	if got := PriorityOf(Interactive(InBulk(t.Context()))); got != Bulk {
		t.Errorf("work on many contracts has priority %d", got)
	}
	if got := PriorityOf(InBulk(Interactive(t.Context()))); got != Bulk {
		t.Errorf("work that a person asked for on many contracts has priority %d", got)
	}
}
