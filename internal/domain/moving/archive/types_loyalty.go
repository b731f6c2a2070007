package archive

var loyaltyTypes = []Type{
	{Name: "loyaltyProgram", About: "the loyalty programme: rules, rewards, referrals; at most one record", Key: 1, Fields: fields(
		"id:number active:truth startedAt:at terms:json",
	)},
	{Name: "members", About: "members with their balances", Key: 1, Fields: fields(
		"id:own customerId:number email firstName lastName status born referralCode enrolledAt:at activeAt:at available:number pending:number credited:number spent:number " +
			"expired:number earned:number debt:number activities:number rewarded:json orderSpent:number credit:number currency seq:number remindedFirst:at remindedLast:at dueAt:due createdAt:at updatedAt:at",
	)},
	{Name: "points", About: "the entries of members' ledgers", Key: 1, Fields: fields(
		"id:own accountId:own>members seq:number kind pending:number available:number lot:number fullyReversed:truth absorbed:number sourceType sourceId ruleId:number rewardId:own " +
			"availableAt:at expiresAt:at description note actor occurredAt:at recordedAt:at",
	)},
	{Name: "pointUses", About: "from which lots entries took points", Key: 1, Fields: fields(
		"id:own accountId:own>members entry:number lot:number role points:number",
	)},
	{Name: "lots", About: "points that were earned together, and what is left of them", Key: 2, Fields: fields(
		"accountId:own>members seq:number sourceType sourceId ruleId:number points:number pending:truth availableFrom:at expiresAt:at remaining:number expired:number " +
			"reversed:number absorbed:number",
	)},
	{Name: "loyaltyFacts", About: "what was ordered and may earn points", Key: 2, Fields: fields("sourceType sourceId:number occurredAt:at dueAt:due")},
	{Name: "rewards", About: "rewards that members spent points on", Key: 1, Fields: fields(
		"id:own accountId:own>members payerId:own customerId:number ruleId:number type state code platformId description points:number value:number percent:number " +
			"minPurchase:number currency combines:truth entryId:own entrySeq:number orderId:number orderName uses:number failures:number reason dueAt:due createdAt:at issuedAt:at " +
			"expiresAt:at usedAt:at updatedAt:at",
	)},
	{Name: "credits", About: "store credit that members received", Key: 1, Fields: fields(
		"id:own accountId:own>members sourceType sourceId amount:number currency note actor recordedAt:at",
	)},
}

var portalTypes = []Type{
	{Name: "portalSettings", About: "what subscribers may do in the portal, without the secret of customer accounts; at most one record", Key: 1, Fields: fields(
		"updatedAt:at settings:json",
	)},
	{Name: "portalDesign", About: "how the portal looks; at most one record", Key: 1, Fields: fields("updatedAt:at design:json")},
	{Name: "portalLogos", About: "pictures of the design: PNG in base64", Key: 1, Fields: fields("hash picture")},
	{Name: "portalTexts", About: "texts of the portal in the store's own words", Key: 3, Fields: fields("language textKey form words changedAt:at")},
	{Name: "portalPreferences", About: "what subscribers have set about the portal and about e-mails", Key: 1, Fields: fields(
		"customerId:number language mailsOff updatedAt:at",
	)},
	{Name: "smsConsents", About: "agreements of subscribers to SMS, ended ones too", Key: 1, Fields: fields(
		"id:own customerId:number phone source clientIp givenAt:at endedAt:at endedBy",
	)},
	{Name: "suppressions", About: "addresses that get no e-mails, by the SHA-256 of the address in lower case", Key: 1, Fields: fields(
		"addressHash hint reason source at:at",
	)},
	{Name: "mailTemplates", About: "e-mails in the store's own words: every published version", Key: 3, Fields: fields(
		"kind language version:number live:truth subject preheader heading body button author publishedAt:at",
	)},
	{Name: "webhookEndpoints", About: "addresses of webhooks, without their secrets", Key: 1, Fields: fields(
		"id:own url types upcomingOrders:truth createdAt:at updatedAt:at",
	)},
}

var historyTypes = []Type{
	{Name: "contractHistory", About: "the states of contracts over time, from which figures are computed", Key: 1, Fields: fields(
		"id:number contractId:number day:number validFrom:at validTo:at status currency planGroupId:own mrr:number customerId:number trial:truth lifelong:truth " +
			"reason counted:truth cohort:number",
	)},
	{Name: "orderOutcomes", About: "what became of orders, from which figures are computed", Key: 1, Fields: fields(
		"id:own contractId:number cycle:number currency planGroupId:own cohort:number failedDay:number failedAmount:number class paidDay:number paidAmount:number try:number result " +
			"resultDay:number retried:truth mailed:truth renewed:truth",
	)},
	{Name: "activity", About: "the activity log; entries about the store itself have the entity 0", Key: 1, Fields: fields(
		"id:own entityId:number entityType event status source actor clientIp recordedAt:at info:json requestId",
	)},
}
