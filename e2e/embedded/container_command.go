package embedded

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// containerEnvironment resolves a container's variables as a kubelet does, in order, so
// that later ones may refer to earlier ones. It returns them by name too, for the args.
func containerEnvironment(container corev1.Container, pod *corev1.Pod) (env []string, byName map[string]string, err error) {
	if len(container.EnvFrom) > 0 {
		return nil, nil, fmt.Errorf("resolve environment of container %s: envFrom is not known here", container.Name)
	}
	byName = map[string]string{}
	for _, variable := range container.Env {
		value := expand(variable.Value, byName)
		if from := variable.ValueFrom; from != nil {
			switch {
			case from.FieldRef != nil:
				value, err = podField(pod, from.FieldRef.FieldPath)
			case from.ResourceFieldRef != nil:
				value, err = resourceField(container, *from.ResourceFieldRef)
			default:
				err = fmt.Errorf("only fieldRef and resourceFieldRef are known here")
			}
			if err != nil {
				return nil, nil, fmt.Errorf("resolve variable %s of container %s: %w", variable.Name, container.Name, err)
			}
		}
		byName[variable.Name] = value
		env = append(env, variable.Name+"="+value)
	}
	return env, byName, nil
}

// expand puts values in place of $(NAME); $$ stands for one $, and unknown names stay.
func expand(text string, values map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			i++
		case strings.HasPrefix(rest, "$("):
			name, _, closed := strings.Cut(rest[2:], ")")
			value, known := values[name]
			if !closed || !known {
				out.WriteByte('$')
				continue
			}
			out.WriteString(value)
			i += len(name) + 2
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func podField(pod *corev1.Pod, path string) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.hostIP":
		return "127.0.0.1", nil
	}
	for prefix, values := range map[string]map[string]string{
		"metadata.labels['": pod.Labels, "metadata.annotations['": pod.Annotations,
	} {
		if key, found := strings.CutPrefix(path, prefix); found {
			return values[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("field %s is not known here", path)
}

// resourceField rounds up, as a kubelet does. A limit that is not set is what the node
// has; there is no node, so it is an error here.
func resourceField(container corev1.Container, selector corev1.ResourceFieldSelector) (string, error) {
	kind, name, _ := strings.Cut(selector.Resource, ".")
	list := map[string]corev1.ResourceList{"limits": container.Resources.Limits, "requests": container.Resources.Requests}[kind]
	quantity, set := list[corev1.ResourceName(name)]
	if !set {
		return "", fmt.Errorf("%s is not set", selector.Resource)
	}
	divisor := selector.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	return strconv.FormatInt(int64(math.Ceil(quantity.AsApproximateFloat64()/divisor.AsApproximateFloat64())), 10), nil
}

// expandAll expands each argument.
func expandAll(args []string, values map[string]string) []string {
	expanded := make([]string, len(args))
	for i, arg := range args {
		expanded[i] = expand(arg, values)
	}
	return expanded
}

// replaceFlags sets flags that must differ outside a pod, in place of what the args say
// of them. The args may have a flag's value after "=" or as the next argument.
func replaceFlags(args []string, flags map[string]string) []string {
	var replaced []string
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if _, known := flags[name]; !known || !strings.HasPrefix(args[i], "-") {
			replaced = append(replaced, args[i])
			continue
		}
		if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
		}
	}
	for name, value := range flags {
		replaced = append(replaced, "--"+name+"="+value)
	}
	return replaced
}

// mentionsFlag says whether the args set a flag.
func mentionsFlag(args []string, flag string) bool {
	for _, arg := range args {
		if name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); name == flag && strings.HasPrefix(arg, "-") {
			return true
		}
	}
	return false
}
