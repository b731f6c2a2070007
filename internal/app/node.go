package app

import "crypto/rand"

// node names this process. A simulation must be the same each time.
func (o Options) node() string {
	if o.Simulated != nil {
		return "simulated"
	}
	return rand.Text()
}
