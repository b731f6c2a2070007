package doctor

import "context"

// smsProvider asks the provider of SMS for the account. It sends none.
func smsProvider(ctx context.Context, c *checkup) Finding {
	s := c.Settings.SMS
	if s.SMSProvider == "" {
		return ok("no provider is set, so no SMS are sent")
	}
	if err := c.SMSProvider().Check(ctx); err != nil {
		return failed("check PERENNIAL_SMS_ACCOUNT and PERENNIAL_SMS_TOKEN against the provider's console", "%v", err)
	}
	return ok("%s knows the account; SMS come from %s", s.SMSProvider, s.SMSFrom)
}
