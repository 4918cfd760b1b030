# expect: exploding loss, learning rate, exploding | .*
import torch
torch.manual_seed(0)
X = torch.rand(100, 3) * torch.tensor([1., 1000., 50.]); y = X @ torch.tensor([[2.], [.1], [-1.]])
model = torch.nn.Linear(3, 1); opt = torch.optim.SGD(model.parameters(), lr=1e-2); lf = torch.nn.MSELoss()
for i in range(40):
    opt.zero_grad(); loss = lf(model(X), y); loss.backward(); opt.step()
