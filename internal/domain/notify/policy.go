package notify

import "time"

// Policy is how long sending waits for what, in the domain's time.
type Policy struct {
	// Lease is how long a worker owns the messages that it claimed.
	Lease time.Duration
	// Retries are the waits after the first, second and every further failure.
	// After one failure more the message has failed.
	Retries []time.Duration
	// Unsent is how long messages wait while there is no mail server.
	Unsent time.Duration
}

// DefaultPolicy returns the waits of the service in earnest.
func DefaultPolicy() Policy {
	return Policy{
		Lease: 10 * time.Minute, Retries: []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}, Unsent: time.Minute,
	}
}

// Divided returns the policy with every wait divided by n, which is positive.
func (p Policy) Divided(n float64) Policy {
	one := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	q := Policy{Lease: one(p.Lease), Unsent: one(p.Unsent)}
	for _, d := range p.Retries {
		q.Retries = append(q.Retries, one(d))
	}
	return q
}
