"""Compiled functions and a model: Inductor generates Triton kernels for all but the products of matrices."""

import torch


@torch.compile
def scaled(x, y):
    return torch.relu(x * 2 + y).sum(dim=1)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(48)
        self.first, self.last = torch.nn.Linear(48, 64), torch.nn.Linear(64, 10)

    def forward(self, x):
        return torch.softmax(self.last(torch.nn.functional.gelu(self.first(self.norm(x)))), dim=-1)


torch.manual_seed(1)
x, y = torch.randn(64, 100), torch.randn(64, 100)
torch.testing.assert_close(scaled(x, y), torch.relu(x * 2 + y).sum(dim=1))

model, given = Model(), torch.randn(32, 48)
compiled = torch.compile(model)
torch.testing.assert_close(compiled(given), model(given))

gradients = []
for forward in (model, compiled):
    model.zero_grad()
    forward(given).square().sum().backward()
    gradients.append([parameter.grad.clone() for parameter in model.parameters()])
torch.testing.assert_close(*gradients)
print("kernels are right")
