# Sourced by the check scripts: a real API server without nodes. Needs etcd and the commands of `kubernetes` in tools.sh.

# start_cluster FOLDER: starts the server, sets KUBECONFIG and creates the namespace `monitoring`. The caller ends its jobs.
start_cluster() {
  local work=$1 client peer secure
  client=$(free_port) peer=$(free_port) secure=$(free_port)
  etcd --data-dir "$work/etcd" --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" >"$work/etcd.log" 2>&1 &
  openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
  echo 'token,admin,1,system:masters' >"$work/tokens.csv"
  kube-apiserver --etcd-servers "http://127.0.0.1:$client" --secure-port "$secure" --bind-address 127.0.0.1 --cert-dir "$work/certificates" \
    --service-account-key-file "$work/accounts.key" --service-account-signing-key-file "$work/accounts.key" --service-account-issuer https://kubernetes.default.svc \
    --token-auth-file "$work/tokens.csv" --authorization-mode RBAC --disable-admission-plugins ServiceAccount --service-cluster-ip-range 10.0.0.0/24 >"$work/apiserver.log" 2>&1 &
  cat >"$work/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://127.0.0.1:$secure", insecure-skip-tls-verify: true } }]
users: [{ name: u, user: { token: token } }]
contexts: [{ name: x, context: { cluster: c, user: u, namespace: monitoring } }]
current-context: x
YAML
  export KUBECONFIG="$work/kubeconfig"
  for _ in $(seq 300); do
    kubectl get --raw /readyz >/dev/null 2>&1 && break
    sleep 1
  done
  kubectl get --raw /readyz >/dev/null || { tail -n 20 "$work/apiserver.log" >&2; return 1; }
  kubectl version | grep Server
  kubectl create namespace monitoring >/dev/null
}

free_port() { node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
