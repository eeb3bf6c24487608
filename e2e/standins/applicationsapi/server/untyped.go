package server

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
)

// creator makes objects of any kind.
type creator struct{}

// New makes an empty object that bears its kind.
func (creator) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// converter has nothing to convert, since there is one version.
type converter struct{}

// Convert takes the content over as it is.
func (converter) Convert(in, out, _ any) error {
	from, isObject := in.(*unstructured.Unstructured)
	to, intoObject := out.(*unstructured.Unstructured)
	if !isObject || !intoObject {
		return fmt.Errorf("convert %T into %T: only applications are converted", in, out)
	}
	to.Object = from.Object
	return nil
}

// ConvertToVersion returns the object, which is of the only version.
func (converter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

// ConvertFieldLabel lets through what releases can be selected by as well.
func (converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	switch label {
	case "metadata.name", "metadata.namespace":
		return label, value, nil
	}
	return "", "", fmt.Errorf("%q is not a known field selector: only metadata.name and metadata.namespace are", label)
}

// defaulter leaves objects as they are: the schema's defaults are put in on reading.
type defaulter struct{}

// Default does nothing.
func (defaulter) Default(runtime.Object) {}

// negotiated are the media types that applications are read and written in.
type negotiated struct{ types []runtime.SerializerInfo }

func newNegotiated(typer runtime.ObjectTyper) negotiated {
	of := func(options json.SerializerOptions) runtime.Serializer {
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, creator{}, typer, options)
	}
	return negotiated{types: []runtime.SerializerInfo{
		{
			MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true,
			Serializer:       of(json.SerializerOptions{}),
			PrettySerializer: of(json.SerializerOptions{Pretty: true}),
			StrictSerializer: of(json.SerializerOptions{Strict: true}),
			StreamSerializer: &runtime.StreamSerializerInfo{
				EncodesAsText: true, Serializer: of(json.SerializerOptions{}), Framer: json.Framer,
			},
		},
		{
			MediaType: runtime.ContentTypeYAML, MediaTypeType: "application", MediaTypeSubType: "yaml", EncodesAsText: true,
			Serializer:       of(json.SerializerOptions{Yaml: true}),
			StrictSerializer: of(json.SerializerOptions{Yaml: true, Strict: true}),
		},
	}}
}

// SupportedMediaTypes are JSON and YAML.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo { return n.types }

// EncoderForVersion writes objects of the only version.
func (n negotiated) EncoderForVersion(encoder runtime.Encoder, version runtime.GroupVersioner) runtime.Encoder {
	return versioning.NewCodec(encoder, nil, converter{}, scheme, scheme, scheme, version, nil, "applications")
}

// DecoderToVersion reads objects as they are written: unknown fields are kept, and no
// default is put in.
func (n negotiated) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return versioning.NewCodec(nil, decoder, runtime.UnsafeObjectConvertor(scheme), scheme, scheme, defaulter{}, nil, version, "applications")
}
