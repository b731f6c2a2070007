package doctor

import "context"

// settings checks what can be said of the settings alone.
func settings(_ context.Context, c *checkup) Finding {
	if err := c.Settings.Check(); err != nil {
		return failed("change the setting that is named, in the environment, the settings file or as a flag", "%v", err)
	}
	return ok("complete")
}
