package billing

// ChargeStats is what became of a store's charges of late.
type ChargeStats struct {
	Sent     int
	Ended    int // with a known outcome
	Paid     int
	Declined int // for the first time, or by the gateway's fault
	Gateway  int // of those declined, by the gateway's fault
}

// Plus adds other statistics.
func (r ChargeStats) Plus(o ChargeStats) ChargeStats {
	return ChargeStats{r.Sent + o.Sent, r.Ended + o.Ended, r.Paid + o.Paid, r.Declined + o.Declined, r.Gateway + o.Gateway}
}
