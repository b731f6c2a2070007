package analytics

// Stages is how far declined orders have come: numbers of orders and the amounts that had
// failed, in minor units. An order that is retried, mailed and lost is in all three.
type Stages struct {
	Retried, RetriedAmount int64 // charged again
	Mailed, MailedAmount   int64 // the customer got an e-mail about it
	Renewed, RenewedAmount int64 // the payment method changed
	Lost, LostAmount       int64 // given up
}

// stages returns what an order adds to those of the day of its first decline.
func (o Outcome) stages() (s Stages) {
	if o.FailedDay == 0 {
		return s
	}
	for _, stage := range []struct {
		reached       bool
		count, amount *int64
	}{
		{o.Retried, &s.Retried, &s.RetriedAmount}, {o.Mailed, &s.Mailed, &s.MailedAmount}, {o.Renewed, &s.Renewed, &s.RenewedAmount},
		{o.Result == Lost, &s.Lost, &s.LostAmount},
	} {
		if stage.reached {
			*stage.count, *stage.amount = 1, o.FailedAmount
		}
	}
	return s
}

func (s Stages) plus(t Stages) Stages {
	return Stages{
		s.Retried + t.Retried, s.RetriedAmount + t.RetriedAmount, s.Mailed + t.Mailed, s.MailedAmount + t.MailedAmount,
		s.Renewed + t.Renewed, s.RenewedAmount + t.RenewedAmount, s.Lost + t.Lost, s.LostAmount + t.LostAmount,
	}
}

func (s Stages) minus(t Stages) Stages {
	return s.plus(Stages{-t.Retried, -t.RetriedAmount, -t.Mailed, -t.MailedAmount, -t.Renewed, -t.RenewedAmount, -t.Lost, -t.LostAmount})
}
