package dashboard

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// Upload is a file that a form may bring.
type Upload struct {
	Field string // its name in the form
	Max   int    // bytes
}

// File is a file that a form has brought.
type File struct {
	Name     string // as the browser gives it
	Data     []byte
	TooLarge bool // it has more bytes than its form may bring, and Data is empty
}

// maxUploaded is how many bytes a form with a file may have. What a file has too much is read and
// thrown away, because a browser shows an answer only after it has sent the whole form.
const maxUploaded = 16 << 20

// parseUpload reads a form that may have a file, and returns the file; nil: there is none. Other
// forms it leaves to parseForm.
func parseUpload(w http.ResponseWriter, r *http.Request, u Upload) (*File, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if u.Field == "" || kind != "multipart/form-data" {
		return nil, nil
	}
	web.AllowBody(w, r, maxUploaded)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, unreadable(err)
	}
	form, text := url.Values{}, int64(web.MaxBody)
	var file *File
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			r.PostForm = form
			return file, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if part.FormName() == u.Field {
			if part.FileName() == "" { // none was chosen
				continue
			}
			if file, err = readFile(part, u.Max); err != nil {
				return nil, unreadable(err)
			}
			file.Name = part.FileName()
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, text+1))
		if err != nil {
			return nil, unreadable(err)
		}
		if text -= int64(len(value)) + 1; text < 0 {
			return nil, fault.New(fault.TooLarge, "the form has more than %d MB beside its file: enter less", web.MaxBody>>20).Code("bodyTooLarge")
		}
		form.Add(part.FormName(), string(value))
	}
}

// readFile reads a file to its end, and keeps it if it has at most so many bytes.
func readFile(part *multipart.Part, most int) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(part, int64(most)+1))
	if err != nil || len(data) <= most {
		return &File{Data: data}, err
	}
	_, err = io.Copy(io.Discard, part)
	return &File{TooLarge: true}, err
}

func unreadable(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.New(fault.TooLarge, "the form has more than %d MB: choose a smaller file", maxUploaded>>20).Code("bodyTooLarge")
	}
	return fault.Because(fault.Invalid, err, "the form could not be read")
}
