//go:build soak

package sandbox

import "testing"

// A year of the demo store is charged as it was announced, on both databases.
func TestYearIsChargedAsAnnounced(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, database func(testing.TB) string) {
		a := listenToAnnouncements(startInline(t, Options{MainOnly: true, Contracts: 24, Kinds: true, Database: database(t)}))
		a.pass(53)
		a.checkForecast()
		a.check(400)
	})
}
