from .drag import Drag as Drag
from .values import DragResult as DragResult
from .values import Pin as Pin
from .values import Target as Target
