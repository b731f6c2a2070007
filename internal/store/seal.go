package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// sealer encrypts the tokens that open stores, with AES-256-GCM. A token is
// bound to its shop: moved into another shop's row, it cannot be opened.
type sealer struct {
	aead   cipher.AEAD   // nil: there is no key
	others []cipher.AEAD // of keys that open, and seal nothing
}

func newSealer(key []byte, others ...[]byte) (sealer, error) {
	if len(key) == 0 {
		return sealer{}, nil
	}
	var s sealer
	var err error
	if s.aead, err = newAEAD(key); err != nil {
		return sealer{}, err
	}
	for _, other := range others {
		aead, err := newAEAD(other)
		if err != nil {
			return sealer{}, err
		}
		s.others = append(s.others, aead)
	}
	return s, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != 32 {
		return nil, fault.New(fault.Invalid, "the secret key has %d bytes and must have 32", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (s sealer) seal(of shop.ID, t platform.Token) (string, error) {
	if t == "" {
		return "", nil
	}
	if s.aead == nil {
		return "", fault.New(fault.Internal, "no secret key is set: the token of a store cannot be written")
	}
	nonce := make([]byte, s.aead.NonceSize())
	rand.Read(nonce) //nolint:errcheck // it never fails
	return base64.StdEncoding.EncodeToString(s.aead.Seal(nonce, nonce, []byte(t), owner(of))), nil
}

func (s sealer) open(of shop.ID, sealed string) (platform.Token, error) {
	if sealed == "" {
		return "", nil
	}
	if s.aead == nil {
		return "", fault.New(fault.Internal, "no secret key is set: the token of a store cannot be read")
	}
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return "", fault.New(fault.Internal, "the token of shop %d is damaged", of)
	}
	n := s.aead.NonceSize()
	plain, err := s.aead.Open(nil, raw[:n], raw[n:], owner(of))
	for _, other := range s.others {
		if err == nil {
			break
		}
		plain, err = other.Open(nil, raw[:n], raw[n:], owner(of))
	}
	if err != nil {
		return "", fault.Because(fault.Internal, err, "what is encrypted of shop %d cannot be opened with this secret key: check PERENNIAL_SECRET_KEY, and see Secret key in docs/operating.md when it is lost", of)
	}
	return platform.Token(plain), nil
}

// current reports whether a text was sealed with the key that seals now.
func (s sealer) current(of shop.ID, sealed string) bool {
	_, err := sealer{aead: s.aead}.open(of, sealed)
	return err == nil
}

func owner(of shop.ID) []byte {
	return binary.BigEndian.AppendUint64([]byte("shop"), uint64(of))
}
