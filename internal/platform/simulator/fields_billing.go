package simulator

func cycleObject(c *contract, index int) object {
	return object{"SubscriptionBillingCycle", c.view(index)}
}

func (r registry) cycles() {
	r["SubscriptionBillingCycle"] = fields{
		"cycleIndex":                 get(func(v cycleView) any { return v.index }),
		"cycleStartAt":               get(func(v cycleView) any { return v.start }),
		"cycleEndAt":                 get(func(v cycleView) any { return v.end }),
		"billingAttemptExpectedDate": get(func(v cycleView) any { return v.expected }),
		"skipped":                    get(func(v cycleView) any { return v.skipped }),
		"edited":                     get(func(v cycleView) any { return v.edited }),
		"editedContract":             get(func(v cycleView) any { return editedObject(v.contract, v.index) }),
		"sourceContract":             get(func(v cycleView) any { return contractObject(v.contract) }),
		"status": get(func(v cycleView) any {
			if v.billed {
				return "BILLED"
			}
			return "UNBILLED"
		}),
		"billingAttempts": on(func(x *exec, v cycleView, a args) any {
			var list []*attempt
			if r, ok := v.contract.cycles[v.index]; ok {
				list = r.attempts
			}
			return x.attempts(list, a)
		}),
	}
}

func (x *exec) attempts(list []*attempt, a args) *page {
	byID := a.text("sortKey") == "ID"
	entries := make([]entry, len(list))
	for i, t := range list {
		entries[i] = entry{t.CreatedAt.Unix(), t.ID, attemptObject(t)}
		if byID {
			entries[i].sort = 0
		}
	}
	return x.paginate("SubscriptionBillingAttempt", entries, a)
}

func attemptObject(a *attempt) object { return typed("SubscriptionBillingAttempt", a) }

func (r registry) attempts() {
	const prefix = "SubscriptionBillingAttempt"
	r[prefix] = fields{
		"id":                     get(func(a *attempt) any { return a.gid() }),
		"idempotencyKey":         get(func(a *attempt) any { return a.Key }),
		"createdAt":              get(func(a *attempt) any { return a.CreatedAt }),
		"completedAt":            get(func(a *attempt) any { return a.CompletedAt }),
		"originTime":             get(func(a *attempt) any { return a.OriginTime }),
		"ready":                  get(func(a *attempt) any { return a.State.ended() }),
		"errorCode":              get(func(a *attempt) any { return textOrNull(a.ErrorCode) }),
		"errorMessage":           get(func(a *attempt) any { return a.message() }),
		"nextActionUrl":          get(func(a *attempt) any { return textOrNull(a.NextAction) }),
		"order":                  get(func(a *attempt) any { return typed("Order", a.order) }),
		"subscriptionContract":   get(func(a *attempt) any { return contractObject(a.contract) }),
		"respectInventoryPolicy": get(func(a *attempt) any { return !a.Oversell }),
		"paymentGroupId":         always(nil),
		"paymentSessionId":       always(nil),
		"processingError": get(func(a *attempt) any {
			if a.ErrorCode == "" {
				return nil
			}
			return object{prefix + "GenericError", a}
		}),
		"state": get(func(a *attempt) any {
			switch a.State {
			case attemptSucceeded:
				return object{prefix + "SuccessState", a}
			case attemptFailed:
				return object{prefix + "FailedState", a}
			case attemptChallenged:
				return object{prefix + "ActionRequiredState", a}
			}
			return object{prefix + "PendingState", a}
		}),
	}
	r[prefix+"SuccessState"] = fields{"order": r[prefix]["order"]}
	r[prefix+"PendingState"] = fields{"processing": always(true)}
	r[prefix+"ActionRequiredState"] = fields{
		"action": get(func(a *attempt) any { return object{prefix + "PaymentChallenge", a} }),
	}
	r[prefix+"PaymentChallenge"] = fields{
		"nextActionUrl": get(func(a *attempt) any { return a.NextAction }),
		"status":        always("OFF_SESSION_REJECTED"),
	}
	r[prefix+"FailedState"] = fields{"error": on(func(x *exec, a *attempt, _ args) any {
		switch {
		case x.s.inEnum(stockEnum, a.ErrorCode):
			return object{prefix + "InventoryError", a}
		case x.s.inEnum(paymentsEnum, a.ErrorCode):
			return object{prefix + "PaymentError", a}
		case x.s.inEnum(generalEnum, a.ErrorCode):
			return object{prefix + "GeneralError", a}
		}
		return object{prefix + "UnexpectedError", a}
	})}
	code := fields{"code": get(func(a *attempt) any { return a.ErrorCode })}
	r[prefix+"PaymentError"] = code
	r[prefix+"GeneralError"] = code
	message := get(func(a *attempt) any { return a.message() })
	r[prefix+"UnexpectedError"] = fields{"message": message}
	r[prefix+"GenericError"] = fields{"code": code["code"], "message": message}
	r[prefix+"InventoryError"] = fields{
		"code": code["code"],
		"insufficientStockProductVariants": on(func(x *exec, a *attempt, given args) any {
			var entries []entry
			for _, l := range a.contract.ordered(a.Cycle).Lines {
				if v, ok := a.contract.shop.variants.get(l.Variant); ok && v.Tracked && v.Quantity < l.Quantity {
					entries = append(entries, entry{0, v.ID, typed("ProductVariant", v)})
				}
			}
			return x.paginate("ProductVariant", entries, given)
		}),
	}
}

func (a *attempt) message() any {
	if a.ErrorCode == "" {
		return nil
	}
	return errorMessage(a.ErrorCode)
}
