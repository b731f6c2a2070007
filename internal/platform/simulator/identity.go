package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

func itoa(n int64) string  { return strconv.FormatInt(n, 10) }
func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

// uuidOf returns an identifier in the form of a UUID that depends on nothing
// but what it names, so that two runs of one story agree.
func uuidOf(kind, shop string, id, n int64) string {
	h := hexOf(kind, shop, id, n)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// hexOf is uuidOf as 32 hexadecimal digits.
func hexOf(kind, shop string, id, n int64) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + shop + "\x00" + itoa(id) + "\x00" + itoa(n)))
	return hex.EncodeToString(sum[:16])
}
